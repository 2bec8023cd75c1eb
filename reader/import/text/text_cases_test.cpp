// Stacks, ncclras reports and logs as they stand in bug reports and as torch 2.11 writes them.
#include <map>

#include "reader/collectives.hpp"
#include "reader/group_status.hpp"
#include "reader/import/cases_testing.hpp"

namespace plumbline::reader::imports {
namespace {

class TextCases : public CasesTest {
 protected:
  static const Stack* training_stack(const Trace& trace) {
    for (const Stack& stack : trace.definitions().stacks)
      if (stack.is(recorder::kTrainingThread)) return &stack;
    return nullptr;
  }
  // By rank: how far it is in the group whose description has this part.
  static std::map<int, GroupStatus> statuses(const reader::Run& run, std::string_view part) {
    std::map<int, GroupStatus> result;
    for (const Trace& trace : run.traces())
      for (const GroupStatus& status : group_statuses(trace))
        if (const Group* group = trace.group(status.group);
            group != nullptr && group->description.find(part) != std::string::npos)
          result[trace.rank()] = status;
    return result;
  }
  static std::vector<Collective> calls_of(const Trace& trace) {
    std::vector<Collective> calls;
    read_collectives(trace, {}, [&](const Collective& call) {
      calls.push_back(call);
      return true;
    });
    return calls;
  }
};

TEST_F(TextCases, PySpyInEveryForm) {
  for (const char* const form :
       {"pyspy_rank0.txt", "pyspy_locals_rank0.txt", "pyspy_native_rank0.txt", "pyspy_rank0.json"}) {
    testing::TempDir directory;
    ASSERT_TRUE(import_files({cases(std::string("local/pyspy_hang/") + form)}, directory / "run").ok()) << form;
    const reader::Run run = testing::open_run(directory / "run");
    ASSERT_EQ(run.traces().size(), 1U);
    const Trace& trace = run.traces()[0];
    EXPECT_EQ(trace.rank(), 0);
    EXPECT_EQ(trace.pid(), 11943U);
    ASSERT_EQ(trace.definitions().stacks.size(), 2U) << form;
    const Stack* const stack = training_stack(trace);
    ASSERT_NE(stack, nullptr) << form;
    EXPECT_EQ(stack->tid, 11943U);
    EXPECT_TRUE(stack->is(recorder::kIdle));
    EXPECT_FALSE(stack->is(recorder::kHoldsInterpreterLock));
    ASSERT_EQ(stack->python.size(), 6U) << form;
    EXPECT_EQ(stack->python[0].function, "_engine_run_backward");
    EXPECT_EQ(stack->python[0].line, 869U);
    EXPECT_EQ(stack->python[3].function, "train_step");
    const bool native = std::string_view(form).find("native") != std::string_view::npos;
    EXPECT_EQ(stack->native.size(), native ? 14U : 0U);
    if (native) {
      EXPECT_EQ(stack->native[3].function, "c10d::Reducer::finalize_backward");
    }
  }
}

TEST_F(TextCases, FaultHandler) {
  const reader::Run run = import({"local/pyspy_hang/faulthandler_rank1.txt"});
  const Stack* const stack = training_stack(run.traces()[0]);
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->python[1].file, "/root/.pyenv/versions/3.11.7/lib/python3.11/queue.py");
  EXPECT_EQ(stack->python[2].function, "next_batch");
  EXPECT_EQ(stack->python[2].line, 15U);
  EXPECT_EQ(run.traces()[0].definitions().stacks.size(), 2U);
}

TEST_F(TextCases, ALogAndStacksOfItsRanksBecomeOneTraceARank) {
  const reader::Run run = import({"local/pyspy_hang/pyspy_rank0.txt", "local/pyspy_hang/pyspy_rank1.txt",
                                  "local/torchrun_logs/torchrun_hang_gloo_timeout.log"});
  ASSERT_EQ(run.traces().size(), 2U);
  EXPECT_EQ(run.find(1)->exit()->signal, 15);
  EXPECT_EQ(run.find(1)->definitions().fact("log.stopped_by_agent"), "SIGTERM");
  EXPECT_EQ(run.find(1)->pid(), 11944U);
  EXPECT_EQ(run.find(0)->exit()->status, 1);
  EXPECT_NE(run.find(0)->exit()->exception_message.find("Timed out waiting"), std::string::npos);
}

TEST_F(TextCases, TorchrunsExitsOfARankThatWasKilled) {
  const reader::Run run = import({"local/torchrun_logs/torchrun_sigkill.log"});
  ASSERT_EQ(run.traces().size(), 2U);
  EXPECT_EQ(run.find(1)->exit()->signal, 9);
  EXPECT_EQ(run.find(1)->definitions().fact("log.torchrun_root_cause"), "true");
  EXPECT_EQ(run.find(0)->exit()->signal, 15);
  EXPECT_EQ(run.find(0)->exit()->exception_class, "RuntimeError");
  EXPECT_LT(run.find(1)->exit()->time_ns, run.find(0)->exit()->time_ns) << "who was stopped ended after the cause";
  EXPECT_EQ(run.find(0)->host(), "localhost");
}

TEST_F(TextCases, TheExceptionOfEachRankWithItsLine) {
  const reader::Run run = import({"local/torchrun_logs/torchrun_exc.log"});
  const ExitInfo* const exit = run.find(1)->exit();
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->exception_class, "RuntimeError");
  EXPECT_EQ(exit->exception_message, "bad batch: expected 32 rows, got 31");
  const Stack* const stack = training_stack(*run.find(1));
  ASSERT_NE(stack, nullptr);
  EXPECT_EQ(stack->python[0].function, "main");
  EXPECT_EQ(stack->python[0].line, 11U);
}

TEST_F(TextCases, FingerprintsThatDifferBecomeCallsThatDiffer) {
  const reader::Run run = import({"nccl_text/detail_mismatch_msswift9443.log"});
  std::map<int, std::uint64_t> elements;
  for (const Trace& trace : run.traces())
    for (const Collective& call : calls_of(trace)) {
      EXPECT_EQ(call.op, Op::kAllReduce);
      EXPECT_EQ(call.seq, 3104U);
      EXPECT_EQ(call.dtype, Dtype::kBfloat16);
      elements[trace.rank()] = call.count_in;
    }
  EXPECT_EQ(elements, (std::map<int, std::uint64_t>{{0, 51'123'456}, {1, 195'812'480}}));
}

TEST_F(TextCases, DetailModesLogGivesOperationsOfBothRanks) {
  const reader::Run run = import({"local/torchrun_logs/torchrun_detail.log"});
  std::map<int, Op> ops;
  for (const Trace& trace : run.traces())
    for (const Collective& call : calls_of(trace)) ops[trace.rank()] = call.op;
  EXPECT_EQ(ops, (std::map<int, Op>{{0, Op::kAllReduce}, {1, Op::kBroadcast}}));
}

TEST_F(TextCases, WatchdogOf25NamesRanksThatAreInTheLog) {
  const reader::Run run = import({"nccl_text/watchdog_2.5_same_seq_llamafactory7396.log"});
  EXPECT_EQ(run.missing_ranks(), std::vector<int>{1});
  const auto known = statuses(run, "");
  ASSERT_TRUE(known.contains(0) && known.contains(3));
  EXPECT_EQ(known.at(0).enqueued, 1582);
  EXPECT_EQ(known.at(0).completed, 1579);
  for (const int rank : {0, 2, 4}) {
    const auto calls = calls_of(*run.find(rank));
    ASSERT_EQ(calls.size(), 1U) << rank;
    EXPECT_EQ(calls[0].seq, 1580U);
    EXPECT_EQ(calls[0].count_in, 466'119'168U);
    EXPECT_EQ(calls[0].outcome, Outcome::kFailed);
    EXPECT_EQ(calls[0].end_ns / 1'000'000 - calls[0].enqueue_ns / 1'000'000, rank == 4 ? 600'067U : 600'060U);
    EXPECT_EQ(run.find(rank)->group(calls[0].group)->name, "1");
  }
}

TEST_F(TextCases, TheDesyncReportsNumbersAreKeptApart) {
  const reader::Run run = import({"nccl_text/watchdog_2.7_desync_report_152623.log"});
  const auto desync = statuses(run, "desync report");
  ASSERT_EQ(desync.size(), 8U);
  EXPECT_EQ(desync.at(7).enqueued, 182);
  EXPECT_EQ(desync.at(0).enqueued, 315);
  EXPECT_EQ(desync.at(3).enqueued, 317);
  EXPECT_NE(run.find(7)->definitions().fact("log.desync").find("didn't join collective #183"), std::string_view::npos);
  EXPECT_EQ(statuses(run, "default_pg").at(0).completed, 183);
}

TEST_F(TextCases, AStuckWatchdogIsNoTimeout) {
  const reader::Run run = import({"nccl_text/watchdog_2.6_gil_stuck.log"});
  EXPECT_EQ(run.find(7)->definitions().fact("log.watchdog_stuck_s"), "480");
  EXPECT_TRUE(calls_of(*run.find(7)).empty());
  EXPECT_EQ(calls_of(*run.find(2)).at(0).op, Op::kAllGatherBase);
}

TEST_F(TextCases, LinesBefore22AreInNoGroup) {
  const reader::Run run = import({"nccl_text/watchdog_old_2.1_mixed_pgs_118369.log"});
  for (const Trace& trace : run.traces())
    for (const Collective& call : calls_of(trace)) EXPECT_EQ(call.group, 0U) << "numbers of different groups";
}

TEST_F(TextCases, RasCountsOfEveryRankThoughFewAreItemised) {
  const reader::Run run = import({"nccl_text/ras_2.30_straggler_mismatch.txt"});
  const auto counts = statuses(run, "AllReduce of communicator 78db921d1c117b4a");
  ASSERT_EQ(counts.size(), 8U);
  EXPECT_EQ(counts.at(7).enqueued, 60);
  for (int rank = 0; rank < 7; ++rank) EXPECT_EQ(counts.at(rank).enqueued, 64);
  EXPECT_EQ(run.find(7)->host(), "node1");
}

TEST_F(TextCases, RasReportsOfOtherVersions) {
  {
    const reader::Run run = import({"nccl_text/ras_nccl1911_two_ahead.txt"});
    const auto counts = statuses(run, "AllGather of communicator");
    ASSERT_EQ(counts.size(), 32U);
    EXPECT_EQ(counts.at(12).enqueued, 641);
    EXPECT_EQ(counts.at(0).enqueued, 640);
  }
  testing::TempDir directory;
  ASSERT_TRUE(import_files({cases("nccl_text/ras_2.24_mismatch_generic.txt")}, directory / "a").ok());
  const auto older = statuses(testing::open_run(directory / "a"), "communicator 27a079b828ff1a75");
  ASSERT_EQ(older.size(), 32U);
  EXPECT_EQ(older.at(2).enqueued, 6649);
  EXPECT_EQ(older.at(1).enqueued, 6650);
  ASSERT_TRUE(import_files({cases("nccl_text/ras_typeA_frozen_desync_4ranks.txt")}, directory / "b").ok());
  const auto four = statuses(testing::open_run(directory / "b"), "AllReduce");
  EXPECT_EQ(four.at(1).enqueued, 27911);
  EXPECT_EQ(four.at(0).enqueued, 27860);
}

TEST_F(TextCases, AMissingRankHasNoTrace) {
  const reader::Run run = import({"nccl_text/ras_2.30_exit_incomplete.txt"});
  EXPECT_EQ(run.missing_ranks(), std::vector<int>{7});
  testing::TempDir directory;
  ASSERT_TRUE(import_files({cases("nccl_text/ras_2.29_status.json")}, directory / "run").ok());
  const reader::Run json = testing::open_run(directory / "run");
  EXPECT_EQ(json.missing_ranks(), std::vector<int>{1});
  EXPECT_EQ(json.find(0)->host(), "node0");
}

TEST_F(TextCases, TheSameReportTwiceIsAJobThatDoesNotMove) {
  std::string twice;
  for (const std::uint8_t byte : testing::read_file(cases("nccl_text/ras_2.30_straggler_mismatch.txt")))
    twice.push_back(static_cast<char>(byte));
  twice += "\n" + twice;
  testing::write_file(directory_ / "twice.txt", twice);
  ASSERT_TRUE(import_files({directory_ / "twice.txt"}, directory_ / "run").ok());
  const reader::Run run = testing::open_run(directory_ / "run");
  EXPECT_EQ(run.find(7)->definitions().fact("log.ras_unchanged_reports"), "2");
}

TEST_F(TextCases, NcclsCollectiveLinesCountInHexadecimal) {
  const reader::Run run = import({"nccl_text/nccl_coll_ok_tp2_torchtitan1369.log"});
  ASSERT_EQ(run.traces().size(), 2U);
  std::uint64_t most = 0;
  for (const Trace& trace : run.traces()) {
    EXPECT_EQ(trace.host(), "node0");
    for (const Collective& call : calls_of(trace)) {
      most = std::max(most, call.seq);
      EXPECT_EQ(call.layer, Layer::kNccl);
      EXPECT_EQ(call.dtype, Dtype::kFloat32);
    }
  }
  EXPECT_EQ(most, 0x11U);
}

TEST_F(TextCases, NothingInTheCollectionIsRefused) {
  testing::TempDir directory;
  const auto report =
      import_files({cases("nccl_text"), cases("local/torchrun_logs"), cases("local/pyspy_hang")}, directory / "run");
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const std::string& problem : report->problems)
    EXPECT_NE(problem.find("fr_trace_output_140563"), std::string::npos) << problem;
}

}  // namespace
}  // namespace plumbline::reader::imports
