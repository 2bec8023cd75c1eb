#include "reader/import/text/text_import.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "reader/import/text/traceback.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

class TextImportTest : public ::testing::Test {
 protected:
  TextImport import(std::string_view text, int rank = -1) {
    testing::write_file(directory_ / "text", text);
    Result<ByteSource> source = ByteSource::open(directory_ / "text");
    return import_text(*source, rank, 2025);
  }

  static const ImportedProcess* find(const TextImport& text, int rank) {
    const auto it = std::find_if(text.processes.begin(), text.processes.end(),
                                 [&](const ImportedProcess& one) { return one.rank == rank; });
    return it == text.processes.end() ? nullptr : &*it;
  }

  testing::TempDir directory_;
};

TEST_F(TextImportTest, TextOfNoKnownKindGivesNothing) {
  const TextImport text = import("hello\nProcessing 3 files\nThread pool started\n[1, 2]\n");
  EXPECT_TRUE(text.processes.empty());
  EXPECT_EQ(text.what, "");
}

TEST_F(TextImportTest, LinesOfSeveralRanksMayBeMixed) {
  const TextImport text = import(
      "[rank0]: Traceback (most recent call last):\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank0]:   File \"a.py\", line 3, in f\n"
      "[rank1]:   File \"b.py\", line 4, in g\n"
      "[rank1]: KeyError: 'x'\n"
      "[rank0]: ValueError: bad\n");
  ASSERT_NE(find(text, 0), nullptr);
  EXPECT_EQ(find(text, 0)->exit->exception_class, "ValueError");
  EXPECT_EQ(find(text, 0)->stacks[0].python[0].file, "a.py");
  EXPECT_EQ(find(text, 1)->exit->exception_message, "'x'");
  EXPECT_EQ(find(text, 1)->world_size, 2);
  EXPECT_EQ(text.what, "text with 2 exceptions");
}

TEST_F(TextImportTest, ARequestThatFailedHasItsSize) {
  EXPECT_EQ(failed_request("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 1 has"), 2'684'354'560U);
  EXPECT_EQ(failed_request("Tried to allocate 20.00 MiB"), 20'971'520U);
  EXPECT_EQ(failed_request("no such thing"), 0U);
  const TextImport text = import(
      "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity\n",
      5);
  const ImportedProcess* const process = find(text, 5);
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(process->allocations.size(), 1U);
  EXPECT_EQ(process->allocations[0].kind, recorder::Kind::kAllocFailed);
  EXPECT_EQ(process->allocations[0].device, 1);
  EXPECT_EQ(process->stacks[0].reason, recorder::StackReason::kFailedAllocation);
}

TEST_F(TextImportTest, TheLaunchersOwnTracebackIsNobodys) {
  EXPECT_TRUE(import("Traceback (most recent call last):\n  File \"torchrun\", line 10, in <module>\n"
                     "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n")
                  .processes.empty());
}

TEST_F(TextImportTest, AFatalErrorOfPythonGivesItsSignal) {
  const TextImport text = import(
      "Fatal Python error: Segmentation fault\n\n"
      "Current thread 0x00007f00 (most recent call first):\n  File \"a.py\", line 3 in f\n  File \"a.py\", line 9 in "
      "<module>\n\n"
      "Thread 0x00007f01 (most recent call first):\n  File \"b.py\", line 1 in g\n",
      3);
  const ImportedProcess* const process = find(text, 3);
  ASSERT_NE(process, nullptr);
  ASSERT_TRUE(process->exit.has_value());
  EXPECT_EQ(process->exit->signal, SIGSEGV);
  ASSERT_EQ(process->stacks.size(), 2U);
  EXPECT_EQ(process->stacks[0].reason, recorder::StackReason::kFatalSignal);
  EXPECT_EQ(process->stacks[1].reason, recorder::StackReason::kImported);
}

TEST_F(TextImportTest, StacksOfTwoProcessesInOneFile) {
  const TextImport text = import(
      "Process 5: python a.py\nPython v3.11 (python)\n\nThread 5 (active+gil): \"MainThread\"\n    f (a.py:1)\n"
      "Process 6: python a.py\nPython v3.11 (python)\n\nThread 6 (idle): \"MainThread\"\n    g (a.py:2)\n"
      "    epoll_wait (libc.so.6)\n");
  ASSERT_EQ(text.processes.size(), 2U);
  EXPECT_EQ(text.processes[0].pid, 5U);
  EXPECT_NE(text.processes[0].stacks[0].flags & recorder::kHoldsInterpreterLock, 0U);
  EXPECT_EQ(text.processes[1].stacks[0].python[0].function, "g");
  EXPECT_EQ(text.processes[1].stacks[0].native[0].file, "libc.so.6");
}

TEST_F(TextImportTest, ColoursAndLongLinesDoNoHarm) {
  const TextImport text = import("\x1b[31m[rank0]: Traceback (most recent call last):\x1b[0m\n" +
                                 std::string(200'000, 'x') + "\n\x1b[1m[rank0]: ValueError: y\x1b[0m");
  EXPECT_TRUE(text.cut_line);
  ASSERT_NE(find(text, 0), nullptr);
  EXPECT_EQ(find(text, 0)->exit->exception_message, "y");
}

TEST_F(TextImportTest, GroupRanksThatAreNotGlobalOnesAreMapped) {
  const TextImport text = import(
      "[rank4]:[E321 02:07:08.408 ProcessGroupNCCL.cpp:2268] [PG ID 3 PG GUID 9(ep) Rank 0]  failure detected by "
      "watchdog "
      "at work sequence id: 5 PG status: last enqueued work: 7, last completed work: 4\n"
      "[rank6]:[E321 02:07:08.408 ProcessGroupNCCL.cpp:2268] [PG ID 3 PG GUID 9(ep) Rank 1]  failure detected by "
      "watchdog "
      "at work sequence id: 5 PG status: last enqueued work: 5, last completed work: 4\n");
  const ImportedProcess* const process = find(text, 6);
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(process->groups.size(), 1U);
  EXPECT_EQ(process->groups[0].name, "9");
  EXPECT_EQ(process->groups[0].description, "ep");
  EXPECT_EQ(process->groups[0].ranks, (std::vector<int>{4, 6}));
  EXPECT_EQ(process->groups[0].status->enqueued, 5);
}

TEST_F(TextImportTest, NcclsWarningsAreKept) {
  const TextImport text =
      import("node0:29880:30398 [0] init.cc:497 NCCL WARN Duplicate GPU detected : rank 2 and rank 0\n");
  ASSERT_EQ(text.processes.size(), 1U);
  EXPECT_EQ(text.processes[0].pid, 29880U);
  EXPECT_EQ(text.processes[0].host, "node0");
  EXPECT_EQ(text.processes[0].facts[0].second, "Duplicate GPU detected : rank 2 and rank 0");
}

}  // namespace
}  // namespace plumbline::reader::imports
