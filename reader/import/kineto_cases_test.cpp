// Kineto traces from 2021 to 2026, of NVIDIA, AMD and CPU jobs.
#include <map>
#include <set>

#include "reader/collectives.hpp"
#include "reader/import/cases_testing.hpp"
#include "reader/ranges.hpp"
#include "reader/steps.hpp"

namespace plumbline::reader::imports {
namespace {

class KinetoCases : public CasesTest {
 protected:
  static std::vector<Collective> calls_of(const Trace& trace) {
    std::vector<Collective> calls;
    read_collectives(trace, {}, [&](const Collective& call) {
      calls.push_back(call);
      return true;
    });
    return calls;
  }
  static std::multiset<std::string> ranges_of(const Trace& trace) {
    std::multiset<std::string> names;
    read_ranges(trace, {}, [&](const Range& range) {
      names.emplace(trace.text(range.name));
      return true;
    });
    return names;
  }
};

TEST_F(KinetoCases, GlooCallsRangesStepsAndMemoryOfTwoRanks) {
  const reader::Run run = import({"local/kineto_ddp_gloo/ddp_gloo_rank0.pt.trace.json.gz",
                                  "local/kineto_ddp_gloo/ddp_gloo_rank1.pt.trace.json.gz"});
  ASSERT_EQ(run.traces().size(), 2U);
  EXPECT_EQ(run.world_size(), 2);
  for (const Trace& trace : run.traces()) {
    const auto calls = calls_of(trace);
    std::map<Op, int> ops;
    for (const Collective& call : calls) {
      ++ops[call.op];
      EXPECT_EQ(call.outcome, Outcome::kCompleted);
      EXPECT_EQ(trace.group(call.group)->ranks, (std::vector<int>{0, 1}));
      if (call.op == Op::kAllReduce) {
        EXPECT_EQ(call.count_in, 82624U);
        EXPECT_EQ(call.dtype, Dtype::kFloat32);
      }
    }
    EXPECT_EQ(ops[Op::kAllReduce], 2);
    EXPECT_EQ(ops[Op::kBarrier], 1);
    EXPECT_EQ(ops[Op::kAllGather], 1);
    EXPECT_EQ(trace.steps().count(), 2);
    const auto ranges = ranges_of(trace);
    EXPECT_EQ(ranges.count("## forward ##"), 2U);
    EXPECT_EQ(ranges.count("ProfilerStep#3"), 1U);
    EXPECT_EQ(trace.first_ns() / 1'000'000'000, 1'795'970'432U) << "on the wall's clock";
    EXPECT_GT(trace.stats().value("events"), 891U) << "every [memory] event is there";
  }
}

TEST_F(KinetoCases, NcclCallsCarryTheirArgumentsAndTheirKernelsTimes) {
  const reader::Run run = import({"kineto_hta/nccl_data.json.gz"});
  const Trace& trace = run.traces()[0];
  EXPECT_EQ(trace.rank(), 0);
  int executed = 0;
  bool found = false;
  for (const Collective& call : calls_of(trace)) {
    const Group* const group = trace.group(call.group);
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->description, "default_pg");
    executed += call.end_ns != 0 ? 1 : 0;
    if (call.count_in != 2'049'000 || found) continue;
    found = true;
    EXPECT_EQ(call.op, Op::kAllReduce);
    EXPECT_EQ(call.end_ns - call.start_ns, 3'306'963U);
    EXPECT_GT(call.start_ns, call.enqueue_ns);
  }
  EXPECT_EQ(executed, 21);
  EXPECT_TRUE(found);
}

TEST_F(KinetoCases, OldTracesHaveTheirCallsFromTheKernelsNames) {
  const reader::Run run = import({"kineto_hta/sampled_rank-0.json.gz", "kineto_hta/sampled_rank-1.json.gz"});
  ASSERT_EQ(run.traces().size(), 2U);
  std::map<int, std::uint64_t> busy;
  for (const Trace& trace : run.traces())
    for (const Collective& call : calls_of(trace))
      if (call.op == Op::kGroupCall) busy[trace.rank()] += call.end_ns - call.start_ns;
  // 396.2 against 379.1 ms in ncclKernel_SendRecv.
  EXPECT_NEAR(static_cast<double>(std::max(busy[0], busy[1])) / 1e6, 396.2, 0.1);
  EXPECT_NEAR(static_cast<double>(std::min(busy[0], busy[1])) / 1e6, 379.1, 0.1);
}

TEST_F(KinetoCases, TracesOf2021NameTheirCategoriesOtherwise) {
  const reader::Run run = import({"kineto_tbplugin/resnet50_num_workers_0.worker0.pt.trace.json.gz"});
  const Trace& trace = run.traces()[0];
  std::uint64_t loading = 0;
  std::uint64_t steps = 0;
  read_ranges(trace, {}, [&](const Range& range) {
    if (trace.text(range.name).starts_with("enumerate(DataLoader)")) loading += range.end_ns - range.begin_ns;
    if (trace.text(range.name).starts_with("ProfilerStep#")) steps += range.end_ns - range.begin_ns;
    return true;
  });
  EXPECT_GT(loading, 0U);
  EXPECT_GT(static_cast<double>(loading) / static_cast<double>(steps), 0.2) << "the job waits for its loader";
}

TEST_F(KinetoCases, AmdTracesWithoutKernelArguments) {
  const reader::Run run = import({"kineto_tracelens/mi300_resnet_act_checkpoint.json.gz"});
  const Trace& trace = run.traces()[0];
  EXPECT_EQ(trace.definitions().fact("nccl"), "2.22.3");
  const auto calls = calls_of(trace);
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(trace.group(calls[0].group)->size, 8);
  EXPECT_EQ(trace.steps().count(), 3);
}

TEST_F(KinetoCases, EdgesOfTheFormat) {
  for (const char* const name :
       {"kineto_hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "kineto_hta/rank_non_gpu.json.gz",
        "kineto_hta/rank_not_found.json.gz", "kineto_hta/distributed_info_not_found.json.gz",
        "kineto_hta/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "kineto_tracelens/mi210_gpu_only_trace.json.gz"}) {
    testing::TempDir directory;
    const auto report = import_files({cases(name)}, directory / "run");
    ASSERT_TRUE(report.ok()) << name << ": " << report.status().message();
    EXPECT_TRUE(report->problems.empty()) << name << ": " << report->problems[0];
  }
  const reader::Run run = import({"kineto_hta/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"});
  EXPECT_EQ(run.traces()[0].rank(), 34);
}

TEST_F(KinetoCases, NeighboursOfTheFormatAreNamed) {
  testing::TempDir directory;
  const auto report = import_files({cases("local/kineto_ddp_gloo")}, directory / "run");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->files.size(), 2U);
  ASSERT_EQ(report->problems.size(), 4U);
  EXPECT_NE(report->problems[0].find("execution trace"), std::string::npos);
  EXPECT_NE(report->problems[2].find("memory timeline"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::reader::imports
