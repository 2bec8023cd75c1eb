#include "reader/import/imported_process.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader::imports {
namespace {

TEST(ImportedProcessTest, ThreadsAndGroupsAreAddedOnce) {
  ImportedProcess process;
  EXPECT_EQ(process.thread(7, "main"), 0U);
  EXPECT_EQ(process.thread(8, "main"), 1U);
  EXPECT_EQ(process.thread(7, "main"), 0U);
  EXPECT_EQ(process.group({"3", "dp", "nccl", {0, 1}, 0, {}}), 0);
  EXPECT_EQ(process.group({"3", "dp", "nccl", {2, 3}, 0, {}}), 1) << "a name alone is no group";
  ImportedGroup again{"3", "dp", "nccl", {0, 1}, 0, {}};
  again.status.emplace().enqueued = 9;
  EXPECT_EQ(process.group(again), 0);
  EXPECT_EQ(process.groups[0].status->enqueued, 9);
}

TEST(ImportedProcessTest, TwoAccountsOfAProcessBecomeOne) {
  ImportedProcess dump;
  dump.rank = 3;
  dump.formats = {"dump"};
  dump.lacks = {"exit", "allocations"};
  dump.group({"0", "world", "nccl", {0, 1}, 0, {}});
  dump.thread(1, "a");
  dump.calls.emplace_back().group = 0;
  ImportedProcess log;
  log.rank = 3;
  log.pid = 44;
  log.formats = {"log"};
  log.lacks = {"allocations", "ranges"};
  log.group({"1", "dp", "nccl", {0, 1}, 0, {}});
  log.thread(2, "b");
  log.calls.emplace_back().group = 0;
  log.exit.emplace().signal = 9;

  ImportedProcess process;
  process.merge(dump);
  EXPECT_EQ(process.lacks, dump.lacks);
  process.merge(log);
  EXPECT_EQ(process.rank, 3);
  EXPECT_EQ(process.pid, 44U);
  EXPECT_EQ(process.formats, (std::vector<std::string>{"dump", "log"}));
  EXPECT_EQ(process.lacks, std::vector<std::string>{"allocations"}) << "what both lack";
  ASSERT_EQ(process.calls.size(), 2U);
  EXPECT_EQ(process.groups[static_cast<std::size_t>(process.calls[1].group)].name, "1");
  EXPECT_EQ(process.threads[process.calls[1].thread].name, "b");
  EXPECT_EQ(process.exit->signal, 9);
}

}  // namespace
}  // namespace plumbline::reader::imports
