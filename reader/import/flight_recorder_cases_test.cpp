// Flight recorder dumps that jobs have left: PyTorch 2.8's (schema 2.9) of a Megatron job with injected faults, and
// those of torch 2.11 (schema 2.10) on gloo.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "reader/collectives.hpp"
#include "reader/group_status.hpp"
#include "reader/import/cases_testing.hpp"

namespace plumbline::reader::imports {
namespace {

class FlightRecorderCases : public CasesTest {
 protected:
  // Ranks of the group of that description and ranks whose status has fallen behind the furthest, in calls enqueued.
  static std::set<int> behind(const reader::Run& run, const std::string& description, const std::vector<int>& ranks) {
    std::map<int, std::int64_t> enqueued;
    for (const Trace& trace : run.traces()) {
      for (const GroupStatus& status : group_statuses(trace)) {
        const Group* const group = trace.group(status.group);
        if (group == nullptr || group->description != description || group->ranks != ranks) continue;
        EXPECT_FALSE(status.counts_point_to_point) << description;
        enqueued[trace.rank()] = status.enqueued;
      }
    }
    EXPECT_EQ(enqueued.size(), ranks.size()) << "a status of every member";
    std::int64_t most = 0;
    for (const auto& [rank, number] : enqueued) most = std::max(most, number);
    std::set<int> result;
    for (const auto& [rank, number] : enqueued)
      if (number < most) result.insert(rank);
    return result;
  }
};

TEST_F(FlightRecorderCases, RanksThatHoldTheInterpreterLockAreBehindThoughTheirDumpsAreEmpty) {
  const reader::Run run = import({"fr_nvrx/fr_traces/lock_gil_2nd"});
  ASSERT_EQ(run.traces().size(), 16U);
  EXPECT_EQ(run.world_size(), 16);
  EXPECT_EQ(behind(run, "EXPERT_MODEL_PARALLEL_GROUP", {8, 9, 10, 11}), std::set<int>({10}));
  EXPECT_EQ(behind(run, "EXPERT_MODEL_PARALLEL_GROUP", {12, 13, 14, 15}), std::set<int>({15}));
  const Trace* const culprit = run.find(10);
  ASSERT_NE(culprit, nullptr);
  read_collectives(*culprit, {}, [](const Collective&) {
    ADD_FAILURE() << "the dump has no calls";
    return false;
  });
}

TEST_F(FlightRecorderCases, RanksWithAGpuErrorAreBehind) {
  const reader::Run run = import({"fr_nvrx/fr_traces/gpu_error_2nd"});
  ASSERT_EQ(run.traces().size(), 16U);
  EXPECT_EQ(behind(run, "EXPERT_MODEL_PARALLEL_GROUP", {8, 9, 10, 11, 12, 13, 14, 15}), std::set<int>({9, 14}));
  EXPECT_NE(report_.problems.size(), 0U) << "the note of the injected fault is no dump";
}

TEST_F(FlightRecorderCases, IdsOfGroupsNameTheSameGroupsInEveryWay) {
  // Where a dump has calls, what they say of an id is what the order of the groups says of it.
  const reader::Run run = import({"fr_nvrx/fr_traces/gpu_error_2nd"});
  for (const Trace& trace : run.traces()) {
    EXPECT_EQ(trace.definitions().fact("source.statuses_without_group"), "") << trace.rank();
    std::map<std::uint64_t, std::int64_t> newest;
    read_collectives(trace, {}, [&](const Collective& call) {
      auto& seq = newest.try_emplace(call.group, -1).first->second;
      if (!is_point_to_point(call.op)) seq = std::max(seq, static_cast<std::int64_t>(call.seq));
      return true;
    });
    for (const GroupStatus& status : group_statuses(trace)) {
      const auto it = newest.find(status.group);
      if (it == newest.end() || it->second < 0 || status.counts_point_to_point) continue;
      EXPECT_EQ(status.enqueued, it->second) << trace.rank() << " " << trace.group(status.group)->description;
    }
  }
}

TEST_F(FlightRecorderCases, CallsCarryWhatTheDumpSays) {
  const reader::Run run = import({"fr_nvrx/fr_traces/gpu_error_2nd"});
  const Trace* const trace = run.find(9);
  ASSERT_NE(trace, nullptr);
  bool seen = false;
  bool sent = false;
  read_collectives(*trace, {}, [&](const Collective& call) {
    const Group* const group = trace->group(call.group);
    if (group == nullptr) {
      ADD_FAILURE() << "a call without its group";
      return true;
    }
    EXPECT_EQ(group->global_rank(group->rank), 9);
    if (group->description == "EXPERT_MODEL_PARALLEL_GROUP" && call.seq == 44788) {
      seen = true;
      EXPECT_EQ(call.op, Op::kAllToAll);
      EXPECT_NE(call.splits_hash, 0U) << "sizes of the experts' tokens differ from rank to rank";
      EXPECT_EQ(call.dtype, Dtype::kBfloat16);
      EXPECT_EQ(call.count_in, 2048U * 5120);
      EXPECT_EQ(call.outcome, Outcome::kPending);
      EXPECT_EQ(call.enqueue_ns, 1758580156088315366U);
    }
    if (call.op == Op::kSend) {
      sent = true;
      EXPECT_EQ(group->global_rank(call.peer), 1);
    }
    return true;
  });
  EXPECT_TRUE(seen);
  EXPECT_TRUE(sent);
  EXPECT_EQ(trace->definitions().fact("source.version"), "2.9");
  EXPECT_EQ(trace->definitions().fact("nccl"), "2.27.3");
  EXPECT_NE(trace->definitions().fact("source.lacks").find("starts"), std::string_view::npos);
  EXPECT_EQ(trace->stats().value("ring_missing"), 0U) << "an import has no ring to miss";
}

TEST_F(FlightRecorderCases, GlooDumpsGetTheirGroupsFromTheCallers) {
  const reader::Run run = import({"local/fr_gloo_desync/during_fr_rank_0", "local/fr_gloo_desync/during_fr_rank_1"});
  ASSERT_EQ(run.traces().size(), 2U);
  std::map<int, Op> last;
  for (const Trace& trace : run.traces()) {
    read_collectives(trace, {}, [&](const Collective& call) {
      const Group* const group = trace.group(call.group);
      if (group == nullptr) return true;
      EXPECT_EQ(group->ranks, (std::vector<int>{0, 1}));
      if (group->description != "dp_group" || call.seq != 4) return true;
      last[trace.rank()] = call.op;
      const std::string site(trace.text(call.site));
      EXPECT_NE(site.find(trace.rank() == 0 ? "fr_desync.py:16 in last" : "fr_desync.py:19 in last"), std::string::npos)
          << site;
      EXPECT_EQ(call.outcome, Outcome::kPending);
      return true;
    });
  }
  EXPECT_EQ(last[0], Op::kAllReduce);
  EXPECT_EQ(last[1], Op::kAllGather);
  ASSERT_EQ(run.find(0)->definitions().stacks.size(), 1U);
  EXPECT_EQ(run.find(0)->definitions().stacks[0].python[2].function, "last");
}

TEST_F(FlightRecorderCases, OfSeveralDumpsOfARankTheEarlierOneIsUsed) {
  const reader::Run run = import({"local/fr_gloo_desync"});
  ASSERT_EQ(run.traces().size(), 2U);
  bool open = false;
  read_collectives(*run.find(0), {}, [&](const Collective& call) {
    open = open || call.outcome == Outcome::kPending;
    return true;
  });
  EXPECT_TRUE(open) << "in the later dump the failed call counts as completed";
  EXPECT_FALSE(report_.data_lost);
  EXPECT_EQ(report_.problems.size(), 8U) << "the dumps that were not used are named";
}

TEST_F(FlightRecorderCases, JsonSaysTheSameAsPickleButForTheFrames) {
  const reader::Run run =
      import({"local/fr_gloo_p2p_ring12/fr_p2p_rank_0.json", "local/fr_gloo_p2p_ring12/fr_p2p_rank_1.json"});
  testing::TempDir other;
  ASSERT_TRUE(
      import_files({cases("local/fr_gloo_p2p_ring12/fr_p2p_rank_0"), cases("local/fr_gloo_p2p_ring12/fr_p2p_rank_1")},
                   other / "run")
          .ok());
  const reader::Run pickled = testing::open_run(other / "run");
  for (const int rank : {0, 1}) {
    const auto calls = [&](const reader::Run& one) {
      std::vector<std::string> rows;
      read_collectives(*one.find(rank), {}, [&](const Collective& call) {
        rows.push_back(std::to_string(call.group) + " " + std::to_string(call.seq) + " " +
                       std::to_string(static_cast<int>(call.op)) + " " + std::to_string(call.count_in) + " " +
                       std::to_string(call.count_out) + " " + std::to_string(static_cast<int>(call.outcome)));
        return true;
      });
      return rows;
    };
    EXPECT_EQ(calls(run), calls(pickled));
    EXPECT_EQ(calls(run).size(), 12U);
  }
  EXPECT_TRUE(run.find(0)->definitions().stacks.empty());
}

TEST_F(FlightRecorderCases, AWrappedRingKeepsTheNumbersOfItsCalls) {
  const reader::Run run = import({"local/fr_gloo_p2p_ring12/fr_p2p_rank_1"});
  std::uint64_t first = ~std::uint64_t{0};
  read_collectives(*run.find(1), {}, [&](const Collective& call) {
    first = std::min(first, call.seq);
    if (call.op == Op::kBarrier) {
      EXPECT_EQ(call.count_in, 0U);
      EXPECT_EQ(call.tensors_in, 0U);
    }
    return true;
  });
  EXPECT_EQ(first, 19U);
}

}  // namespace
}  // namespace plumbline::reader::imports
