// The preload object in processes that it was made for, and in those that it was not: what is recorded, and that the
// job notices nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>

#include "tests/shim/recorded_job.hpp"

namespace plumbline::tests {
namespace {

using recorder::Kind;
using recorder::Op;
using recorder::Outcome;

std::vector<std::string> scenario(const std::string& name) {
  return {PLUMBLINE_SCENARIO, name, PLUMBLINE_FAKE_LIBRARIES};
}

int count(const RecordedCall& call, Kind kind) {
  const auto found = call.marks.find(kind);
  return found == call.marks.end() ? 0 : found->second;
}

std::size_t count(const RecordedProcess& process, Kind kind) {
  return static_cast<std::size_t>(std::count_if(process.allocations.begin(), process.allocations.end(),
                                                [kind](const auto& event) { return event.kind == kind; }));
}

TEST(Preload, RecordsEveryAllocationOnce) {
  const RecordedJob job(scenario("allocations"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(count(process, Kind::kAlloc), 1000u);
  EXPECT_EQ(count(process, Kind::kFree), 1000u);
  std::set<std::uint64_t> live;
  std::uint64_t size = 0;
  for (const RecordedAllocation& event : process.allocations) {
    if (event.kind == Kind::kAlloc) {
      EXPECT_EQ(event.size, size += 16);
      EXPECT_TRUE(live.insert(event.address).second);
    } else {
      EXPECT_EQ(live.erase(event.address), 1u);
    }
  }
  EXPECT_TRUE(live.empty());
  EXPECT_EQ(process.fired("c10::alloc_cpu"), 1001u) << "the request for nothing counts as a call";
  EXPECT_TRUE(process.clean_end);
  EXPECT_EQ(process.exit_status, 0);
}

TEST(Preload, AFailingAllocationIsRecordedAndRaisesAsBefore) {
  const RecordedJob job(scenario("failing_allocation"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.allocations.size(), 3u);
  EXPECT_EQ(process.allocations[0].kind, Kind::kAllocFailed);
  EXPECT_EQ(process.allocations[0].size, std::uint64_t{1} << 60);
  EXPECT_EQ(process.allocations[1].kind, Kind::kAlloc);
  EXPECT_EQ(process.allocations[2].kind, Kind::kFree);
}

TEST(Preload, EveryBackendCallIsOneEvent) {
  const RecordedJob job(scenario("every_call"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  std::vector<Op> ops;
  for (const RecordedCall& call : process.calls) ops.push_back(call.op);
  EXPECT_EQ(ops, (std::vector<Op>{Op::kAllReduce,
                                  Op::kAllReduceSparse,
                                  Op::kAllReduceCoalesced,
                                  Op::kReduce,
                                  Op::kBroadcast,
                                  Op::kAllGather,
                                  Op::kAllGatherBase,
                                  Op::kAllGatherCoalesced,
                                  Op::kAllGatherIntoTensorCoalesced,
                                  Op::kReduceScatter,
                                  Op::kReduceScatterBase,
                                  Op::kReduceScatterTensorCoalesced,
                                  Op::kAllToAllBase,
                                  Op::kGather,
                                  Op::kScatter,
                                  Op::kSend,
                                  Op::kRecv,
                                  Op::kRecvAnySource,
                                  Op::kAllGatherBase,
                                  Op::kAllGatherIntoTensorCoalesced,
                                  Op::kReduceScatterBase,
                                  Op::kReduceScatterTensorCoalesced,
                                  Op::kAllToAllBase,
                                  Op::kBarrier,
                                  Op::kMonitoredBarrier,
                                  Op::kAllToAll}));
  std::uint64_t collectives = 0;
  std::uint64_t transfers = 0;
  for (const RecordedCall& call : process.calls) {
    const bool transfer = call.op == Op::kSend || call.op == Op::kRecv || call.op == Op::kRecvAnySource;
    EXPECT_EQ(call.seq, transfer ? transfers++ : collectives++) << static_cast<int>(call.op);
    EXPECT_EQ(call.group, process.calls[0].group);
    EXPECT_EQ(count(call, Kind::kCollectiveEnd), 1) << static_cast<int>(call.op);
    EXPECT_EQ(call.outcome, call.op == Op::kAllToAll ? Outcome::kRaised : Outcome::kCompleted);
    const bool executed = !transfer && call.op != Op::kAllToAll && call.op != Op::kMonitoredBarrier;
    EXPECT_EQ(count(call, Kind::kCollectiveStart), executed ? 1 : 0) << static_cast<int>(call.op);
    EXPECT_EQ(count(call, Kind::kWait), count(call, Kind::kWaitEnd)) << static_cast<int>(call.op);
    EXPECT_EQ(count(call, Kind::kCollectiveReturn), 0);
  }
  EXPECT_EQ(process.fired("c10d backend calls"), process.calls.size());
}

TEST(Preload, ABackendOfADeviceGetsItsReturnMarked) {
  const RecordedJob job(scenario("nccl_calls"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.calls.size(), 26u);
  EXPECT_EQ(process.calls.back().op, Op::kGather);
  for (const RecordedCall& call : process.calls) {
    EXPECT_EQ(call.marks, (std::map<Kind, int>{{Kind::kCollectiveReturn, 1}})) << static_cast<int>(call.op);
  }
}

// The hard case: after the exception, the next call comes from deeper in the stack than the one that raised.
TEST(Preload, ACallThatRaisesIsToldApartFromOneThatIsNested) {
  const RecordedJob job(scenario("raising_call"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  std::vector<Outcome> outcomes;
  for (const RecordedCall& call : process.calls) {
    EXPECT_EQ(count(call, Kind::kCollectiveEnd), 1) << call.id;
    outcomes.push_back(call.outcome);
  }
  EXPECT_EQ(outcomes, (std::vector<Outcome>{Outcome::kRaised, Outcome::kCompleted, Outcome::kRaised,
                                            Outcome::kCompleted, Outcome::kCompleted}));
  for (std::size_t i = 0; i < process.calls.size(); ++i) EXPECT_EQ(process.calls[i].seq, i);
}

TEST(Preload, ACallThatRaisesLastIsMarkedAtTheEnd) {
  const RecordedJob job(scenario("raising_at_the_end"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.calls.size(), 2u);
  EXPECT_EQ(process.calls[1].outcome, Outcome::kRaised);
}

TEST(Preload, AWorkThatFailsIsAFailedCall) {
  const RecordedJob job(scenario("failing_work"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.calls.size(), 2u);
  EXPECT_EQ(process.calls[0].outcome, Outcome::kFailed);
  EXPECT_EQ(count(process.calls[0], Kind::kWait), count(process.calls[0], Kind::kWaitEnd));
  EXPECT_EQ(process.calls[1].outcome, Outcome::kCompleted);
}

TEST(Preload, AReceiveThatFailsIsAFailedCall) {
  const RecordedJob job(scenario("failing_receive"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.calls.size(), 2u);
  EXPECT_EQ(process.calls[0].outcome, Outcome::kRaised);
  EXPECT_EQ(process.calls[0].wait_outcome, Outcome::kRaised);
  EXPECT_EQ(process.calls[1].outcome, Outcome::kCompleted);
}

TEST(Preload, GroupsCountTheirCallsApart) {
  const RecordedJob job(scenario("two_groups"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.calls.size(), 5u);
  const std::uint64_t first = process.calls[0].group;
  const std::uint64_t second = process.calls[2].group;
  EXPECT_NE(first, second);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> numbers;
  for (const RecordedCall& call : process.calls) numbers.emplace_back(call.group, call.seq);
  EXPECT_EQ(numbers, (decltype(numbers){{first, 0}, {first, 1}, {second, 0}, {first, 2}, {first, 0}}));
  ASSERT_NE(process.definitions.group(first), nullptr);
  EXPECT_EQ(process.definitions.group(first)->name, "gloo#0");
  EXPECT_EQ(process.definitions.group(second)->name, "gloo#1");
}

TEST(Preload, AProcessThatDoesNotTrainLeavesNothing) {
  const RecordedJob job(scenario("no_training"));
  EXPECT_EQ(job.exit_status(), 3) << job.output();
  EXPECT_EQ(job.files(), std::vector<std::string>{});
  EXPECT_EQ(job.output(), "");
}

TEST(Preload, TheKillSwitchAndExclusionsLeaveNothing) {
  for (const auto& [name, value] : RecordedJob::Environment{
           {"PLUMBLINE_DISABLE", "1"}, {"PLUMBLINE_EXCLUDE", "gcc,shim_scen*"}, {"PLUMBLINE_LEVEL", "off"}}) {
    const RecordedJob job(scenario("every_call"), {{name, value}});
    EXPECT_EQ(job.exit_status(), 0) << name << job.output();
    EXPECT_EQ(job.files(), std::vector<std::string>{}) << name;
  }
}

TEST(Preload, SettingsOfWhoeverRunsTheTestsAreNotTheJobs) {
  setenv("PLUMBLINE_DISABLE", "1", 1);
  const RecordedJob job(scenario("allocations"));
  unsetenv("PLUMBLINE_DISABLE");
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  EXPECT_EQ(count(job.process(), Kind::kAlloc), 1000u);
}

// A file in the way, a name that is too long: a line, once, and only where it matters.
TEST(Preload, ARunDirectoryThatCannotBeMadeIsSaidByAProcessThatTrains) {
  for (const std::string& directory : {std::string("/proc/version/run"), "/tmp/" + std::string(300, 'x')}) {
    const RecordedJob job(scenario("every_call"), {{"PLUMBLINE_RUN", directory}});
    EXPECT_EQ(job.exit_status(), 0) << job.output();
    EXPECT_EQ(std::count(job.output().begin(), job.output().end(), '\n'), 1) << job.output();
    EXPECT_NE(job.output().find("nothing is recorded of this process"), std::string::npos) << job.output();
    EXPECT_NE(job.output().find(directory), std::string::npos) << job.output();
    EXPECT_EQ(RecordedJob(scenario("no_training"), {{"PLUMBLINE_RUN", directory}}).output(), "");
  }
}

TEST(Preload, ABadSettingIsLoggedOnce) {
  const RecordedJob job(scenario("every_call"), {{"PLUMBLINE_LEVLE", "watch"}, {"PLUMBLINE_FLUSH_MS", "soon"}});
  EXPECT_EQ(job.exit_status(), 0) << job.output();
  std::map<std::string, int> told;
  for (const std::string& line : job.log()) {
    for (const char* name : {"PLUMBLINE_LEVLE", "PLUMBLINE_FLUSH_MS"}) told[name] += line.find(name) != line.npos;
  }
  EXPECT_EQ(told, (std::map<std::string, int>{{"PLUMBLINE_LEVLE", 1}, {"PLUMBLINE_FLUSH_MS", 1}}));
}

TEST(Preload, AProcessThatReplacesItsProgramGoesOnInASecondTrace) {
  const RecordedJob job(scenario("exec_midway"));
  EXPECT_EQ(job.exit_status(), 0) << job.output();
  const auto run = reader::Run::open(job.directory());
  ASSERT_TRUE(run.ok());
  ASSERT_EQ(run->traces().size(), 2u);
  EXPECT_EQ(run->launches(), 1);
  const reader::Trace& before = run->traces()[0];
  const reader::Trace& after = run->traces()[1];
  EXPECT_EQ(before.pid(), after.pid());
  EXPECT_EQ(before.continued_in(), after.path());
  EXPECT_EQ(before.exit(), nullptr);
  EXPECT_NE(after.exit(), nullptr);
}

TEST(Preload, TheExitStatusIsRecordedAndKept) {
  const RecordedJob job(scenario("leave_by_exit"));
  EXPECT_EQ(job.exit_status(), 7);
  const RecordedProcess process = job.process();
  EXPECT_TRUE(process.clean_end);
  EXPECT_EQ(process.exit_status, 7);
  EXPECT_EQ(process.calls.size(), 3u);
}

TEST(Preload, LeavingAtOnceLosesNothing) {
  const RecordedJob job(scenario("leave_at_once"));
  EXPECT_EQ(job.exit_status(), 8);
  const RecordedProcess process = job.process();
  ASSERT_EQ(process.calls.size(), 3u);
  for (const RecordedCall& call : process.calls) EXPECT_EQ(call.outcome, Outcome::kCompleted);
}

class Killed : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(Killed, LosesNothing) {
  const RecordedJob job(scenario(GetParam().first));
  EXPECT_EQ(job.signal(), GetParam().second) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_FALSE(process.clean_end);
  ASSERT_EQ(process.calls.size(), 4u);
  EXPECT_EQ(process.calls[2].outcome, Outcome::kCompleted);
  EXPECT_EQ(process.calls[3].op, Op::kRecv);
  EXPECT_EQ(process.calls[3].outcome, Outcome::kPending);
}

INSTANTIATE_TEST_SUITE_P(BySignal, Killed,
                         testing::Values(std::pair{"leave_by_segv", SIGSEGV}, std::pair{"leave_by_abort", SIGABRT},
                                         std::pair{"leave_by_kill", SIGKILL}),
                         [](const auto& info) { return std::string(info.param.first).substr(9); });

TEST(Preload, AForkedWorkerLeavesNothing) {
  const RecordedJob job(scenario("fork_worker"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.calls.size(), 3u);
  EXPECT_EQ(process.allocations.size(), 0u);
  EXPECT_EQ(process.fired("fork"), 1u);
  EXPECT_TRUE(process.clean_end);
}

TEST(Preload, AForkedChildThatTrainsHasATraceOfItsOwn) {
  const RecordedJob job(scenario("fork_training"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const std::vector<RecordedProcess> processes = job.processes();
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].calls.size(), 3u);
  EXPECT_EQ(processes[1].calls.size(), 5u);
  for (const RecordedProcess& process : processes) {
    EXPECT_TRUE(process.clean_end);
    EXPECT_EQ(process.definitions.fact("adapter.state"), "missing");
    EXPECT_NE(process.definitions.fact("library.libtorch_cpu.so"), "");
    EXPECT_NE(process.definitions.fact("process.command"), "");
  }
}

TEST(Preload, ForksAmongAllocatingThreadsDoNotHang) {
  const RecordedJob job(scenario("fork_among_threads"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.fired("fork"), 20u);
  EXPECT_EQ(count(process, Kind::kAlloc) + count(process, Kind::kFree) + process.dropped,
            process.fired("c10::alloc_cpu") + process.fired("c10::free_cpu"));
}

TEST(Preload, SixtyFourThreadsLoseNoAllocation) {
  const RecordedJob job(scenario("many_threads"));
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.dropped, 0u);
  EXPECT_EQ(count(process, Kind::kAlloc), 32'000u);
  EXPECT_EQ(count(process, Kind::kFree), 32'000u);
}

TEST(Preload, OtherProgramsRunAsWithoutIt) {
  const std::vector<std::vector<std::string>> commands{
      {"bash", "-c", "echo hello; (echo sub; exit 4); echo $?; env true"},
      {"env", "printf", "%s", "words"},
      {"git", "--version"},
      {"gcc", "--version"},
      {"python3", "-c", "import os, subprocess; print(subprocess.call(['true'])); os._exit(6)"},
      {"sh", "-c", "kill -9 $$"},
  };
  for (const std::vector<std::string>& command : commands) {
    const RecordedJob with(command);
    const RecordedJob without(command, {{"LD_PRELOAD", ""}});
    EXPECT_EQ(with.exit_status(), without.exit_status()) << command[0];
    EXPECT_EQ(with.signal(), without.signal()) << command[0];
    EXPECT_EQ(with.output(), without.output()) << command[0];
    EXPECT_EQ(with.files(), std::vector<std::string>{}) << command[0];
  }
}

}  // namespace
}  // namespace plumbline::tests
