// CUDA memory snapshots as users have them: torch 2.0's layout without times and addresses of blocks, today's, and one
// made from a CPU profile.
#include "reader/allocations.hpp"
#include "reader/import/cases_testing.hpp"

namespace plumbline::reader::imports {
namespace {

class MemorySnapshotCases : public CasesTest {
 protected:
  struct Totals {
    std::uint64_t blocks = 0;  // bytes held at the end
    std::uint64_t segments = 0;
    std::vector<std::uint64_t> failed;
  };

  static Totals totals_of(const Trace& trace) {
    Totals totals;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> live;
    trace.read({.kinds = kAllocations}, [&](const FrameView& frame) {
      for (const AllocationBatch& batch : frame.allocations) {
        for (std::size_t row = 0; row < batch.count; ++row) {
          const auto kind = static_cast<Kind>(batch.kind[row]);
          const auto key =
              std::pair(static_cast<std::uint64_t>(recorder::source_of(static_cast<std::uint32_t>(batch.tag[row]))),
                        batch.address[row]);
          if (kind == Kind::kAlloc) live[key] = batch.size[row];
          if (kind == Kind::kFree) live.erase(key);
          if (kind == Kind::kAllocFailed) totals.failed.push_back(batch.size[row]);
        }
      }
      return true;
    });
    for (const auto& [key, size] : live)
      (key.first == static_cast<std::uint64_t>(Source::kCachingBlock) ? totals.blocks : totals.segments) += size;
    return totals;
  }
};

TEST_F(MemorySnapshotCases, TheOldestLayoutGivesSegmentsAndBlocks) {
  const reader::Run run = import({"memsnap/t20_flexgen_oom_snapshot.pickle"});
  ASSERT_EQ(run.traces().size(), 1U);
  const Totals totals = totals_of(run.traces()[0]);
  // 11,291.7 MiB allocated of 11,296 reserved.
  EXPECT_NEAR(static_cast<double>(totals.blocks) / (1 << 20), 11291.7, 0.1);
  EXPECT_NEAR(static_cast<double>(totals.segments) / (1 << 20), 11296, 6);
  ASSERT_FALSE(run.traces()[0].definitions().stacks.empty());
  EXPECT_EQ(run.traces()[0].definitions().stacks[0].python[0].function, "allocate");
  EXPECT_NE(run.traces()[0].definitions().fact("source.lacks").find("times"), std::string_view::npos);
}

TEST_F(MemorySnapshotCases, ARequestThatFailedHasItsSizeAndStack) {
  const reader::Run run = import({"local/memsnap_cpu/SYNTHETIC_oom_logits_fp32_B4_T8192_V151936.pickle"});
  const Trace& trace = run.traces()[0];
  const Totals totals = totals_of(trace);
  ASSERT_EQ(totals.failed, std::vector<std::uint64_t>{19'914'555'392});
  const Stack& stack = trace.definitions().stacks.at(0);
  EXPECT_EQ(stack.reason, recorder::StackReason::kFailedAllocation);
  EXPECT_EQ(stack.detail, 19'914'555'392U);
  EXPECT_EQ(stack.python[0].function, "float_upcast");
  EXPECT_EQ(stack.python[0].line, 21U);
  EXPECT_EQ(totals.blocks, totals.segments) << "every block fills its segment";
}

TEST_F(MemorySnapshotCases, AProfileMadeIntoASnapshot) {
  const reader::Run run = import({"local/memsnap_cpu/profile_to_snapshot_cpu.pickle"});
  const Totals totals = totals_of(run.traces()[0]);
  EXPECT_GT(totals.blocks, 0U);
  const auto& stacks = run.traces()[0].definitions().stacks;
  ASSERT_FALSE(stacks.empty());
  bool taken_apart = false;
  for (const Stack& stack : stacks)
    for (const StackFrame& frame : stack.python) taken_apart = taken_apart || frame.file == "memsnap_cpu.py";
  EXPECT_TRUE(taken_apart) << "\"memsnap_cpu.py(7): <module>\" is file, line and function";
}

TEST_F(MemorySnapshotCases, AnEmptySnapshotIsNoError) {
  const reader::Run run = import({"local/memsnap_cpu/empty_cuda_snapshot_cpu_host_2.11.pickle"});
  EXPECT_EQ(run.traces().size(), 1U);
  EXPECT_EQ(totals_of(run.traces()[0]).blocks, 0U);
}

}  // namespace
}  // namespace plumbline::reader::imports
