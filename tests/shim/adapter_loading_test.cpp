// How the preload object finds, starts and does without the torch adapter.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/shim/recorded_job.hpp"

namespace plumbline::tests {
namespace {

using recorder::Op;

RecordedJob job_with_adapter(const std::string& scenario, const std::string& adapter) {
  return RecordedJob({PLUMBLINE_SCENARIO, scenario, PLUMBLINE_FAKE_LIBRARIES}, {{"PLUMBLINE_ADAPTER", adapter}});
}

TEST(AdapterLoading, TheAdapterDescribesWhatWasCalled) {
  const RecordedJob job = job_with_adapter("every_call", PLUMBLINE_FAKE_ADAPTER);
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.definitions.fact("adapter.state"), "loaded");
  EXPECT_EQ(process.definitions.fact("adapter.path"), PLUMBLINE_FAKE_ADAPTER);
  EXPECT_EQ(process.definitions.fact("adapter.test"), "started");
  for (const RecordedCall& call : process.calls) {
    ASSERT_NE(process.definitions.group(call.group), nullptr);
    EXPECT_EQ(process.definitions.group(call.group)->name, "0");
    EXPECT_NE(call.buffer_in, 0u) << "the first argument of every call is an address";
    const bool to_a_peer = call.op == Op::kSend || call.op == Op::kRecv;
    EXPECT_EQ(call.peer, to_a_peer ? 1 : -1) << static_cast<int>(call.op);
    EXPECT_EQ(call.tensor_tag, to_a_peer ? 42 : 0) << static_cast<int>(call.op);
  }
}

// What a call is given is looked at before the backend begins, what it leaves when that is done.
TEST(AdapterLoading, TheAdapterSeesBeginAndEndOfEachCall) {
  const RecordedJob job = job_with_adapter("every_call", PLUMBLINE_FAKE_ADAPTER);
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  std::map<std::string, std::string> told;  // by call
  for (int i = 0;; ++i) {
    const std::string words(process.definitions.fact("adapter.told." + std::to_string(i)));
    if (words.empty()) break;
    const std::size_t space = words.find(' ');
    told[words.substr(space + 1)] += words.substr(0, space) + " ";
  }
  for (const RecordedCall& call : process.calls) {
    const std::string& words = told[std::to_string(call.id)];
    const bool transfer = call.op == Op::kSend || call.op == Op::kRecv || call.op == Op::kRecvAnySource;
    if (call.op == Op::kAllToAll) {
      EXPECT_EQ(words, "taken ");  // it raises
    } else if (call.op == Op::kMonitoredBarrier) {
      EXPECT_EQ(words, "expected ends ");
    } else {
      EXPECT_TRUE(words.starts_with("taken ") && words.ends_with("ends ")) << words;
      EXPECT_EQ(words.find("begins") != std::string::npos, !transfer) << static_cast<int>(call.op);
    }
  }
}

TEST(AdapterLoading, CallsOfADevicesBackendAreToldBeforehand) {
  const RecordedJob job = job_with_adapter("nccl_calls", PLUMBLINE_FAKE_ADAPTER);
  const RecordedProcess process = job.process();
  for (std::size_t i = 0; i < process.calls.size(); ++i) {
    EXPECT_EQ(process.definitions.fact("adapter.told." + std::to_string(i)),
              "expected " + std::to_string(process.calls[i].id));
  }
}

// gather_single has the arguments of an all-gather; what was called is a gather nevertheless.
TEST(AdapterLoading, ACallDescribedAsItsRelativeKeepsItsName) {
  const RecordedJob job = job_with_adapter("nccl_calls", PLUMBLINE_FAKE_ADAPTER);
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  ASSERT_FALSE(process.calls.empty());
  EXPECT_EQ(process.calls.back().op, Op::kGather);
}

TEST(AdapterLoading, TheExceptionThatThePythonGlueNotesIsKeptThoughTheProcessIsKilled) {
  const RecordedJob job = job_with_adapter("leave_by_kill", PLUMBLINE_FAKE_ADAPTER);
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.definitions.fact("exception.class"), "FakeError");
  EXPECT_EQ(process.definitions.fact("exception.message"), "as the glue would note it");
}

TEST(AdapterLoading, WithoutAnAdapterTheTraceSaysWhatIsMissing) {
  const RecordedJob job = job_with_adapter("two_groups", "/nonexistent/libplumbline_torch.so");
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.calls.size(), 5u);
  EXPECT_EQ(process.definitions.fact("adapter.state"), "missing");
  EXPECT_EQ(process.definitions.fact("adapter.remedy"), "plumbline build-adapter");
  EXPECT_NE(process.definitions.fact("adapter.reason").find("/nonexistent/"), std::string_view::npos);
  EXPECT_NE(process.definitions.fact("process.command").find("two_groups"), std::string_view::npos);
  EXPECT_NE(process.definitions.fact("library.libtorch_cpu.so"), "");
  ASSERT_NE(process.hook("c10d backend calls"), nullptr);
  EXPECT_TRUE(process.hook("c10d backend calls")->active);
  for (const char* name : {"optimizer steps", "ranges (at::RecordFunction, USER_SCOPE)", "Python glue"}) {
    ASSERT_NE(process.hook(name), nullptr) << name;
    EXPECT_FALSE(process.hook(name)->active) << name;
    EXPECT_NE(process.hook(name)->detail, "") << name;
  }
}

TEST(AdapterLoading, AnAdapterOfAnotherVersionIsRefused) {
  const RecordedJob job = job_with_adapter("two_groups", PLUMBLINE_FOREIGN_ADAPTER);
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  const RecordedProcess process = job.process();
  EXPECT_EQ(process.definitions.fact("adapter.state"), "missing");
  EXPECT_NE(process.definitions.fact("adapter.reason").find("another version"), std::string_view::npos);
  EXPECT_EQ(process.calls.size(), 5u);
  EXPECT_EQ(process.definitions.group(process.calls[0].group)->name, "gloo#0");
}

TEST(AdapterLoading, ALibraryThatIsNoAdapterIsRefused) {
  const RecordedJob job = job_with_adapter("two_groups", PLUMBLINE_PRELOAD_OBJECT);
  ASSERT_EQ(job.exit_status(), 0) << job.output();
  EXPECT_EQ(job.process().definitions.fact("adapter.state"), "missing");
}

}  // namespace
}  // namespace plumbline::tests
