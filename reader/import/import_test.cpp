#include "reader/import/import.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "reader/collectives.hpp"
#include "reader/group_status.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader::imports {
namespace {

class ImportTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, std::string_view contents) {
    testing::write_file(directory_ / name, contents);
    return directory_ / name;
  }

  // A dump of schema `version` with one call of the group "3", written as JSON.
  std::string dump(const std::string& name, const std::string& version, const std::string& more = {},
                   const std::string& call = R"("state":"scheduled","retired":false)") {
    return file(name, R"({"version":")" + version + R"(",)" + more +
                          R"("pg_config":{"3":{"name":"3","desc":"dp","ranks":"[0, 1]"}},)" +
                          R"("entries":[{"record_id":0,"pg_id":7,"process_group":["3","dp"],"collective_seq_id":11,)" +
                          R"("p2p_seq_id":0,"op_id":11,"profiling_name":"nccl:all_reduce","is_p2p":false,)" +
                          R"("time_created_ns":1700000000000000000,"input_sizes":[[4,8]],"input_dtypes":["Float"],)" +
                          R"("output_sizes":[[4,8]],"output_dtypes":["Float"],)" + call + "}]}");
  }

  Result<ImportReport> import(const std::vector<std::string>& paths) { return import_files(paths, directory_ / "run"); }

  std::string refusal(const std::vector<std::string>& paths) {
    const auto report = import(paths);
    EXPECT_FALSE(report.ok());
    EXPECT_FALSE(std::filesystem::exists(directory_ / "run")) << "nothing is left behind";
    return report.status().message();
  }

  std::vector<Collective> calls_of(int rank) {
    const reader::Run run = testing::open_run(directory_ / "run");
    std::vector<Collective> calls;
    read_collectives(*run.find(rank), {}, [&](const Collective& call) {
      calls.push_back(call);
      return true;
    });
    return calls;
  }

  testing::TempDir directory_;
};

TEST_F(ImportTest, EverySchemaVersionIsRead) {
  const std::vector<std::pair<const char*, const char*>> versions = {
      {"2.3", ""},
      {"2.4", R"("hccl_comm_state":{},)"},
      {"2.7", R"("nccl_version":"2.21.5","pg_status":{"7":{"last_enqueued_collective":11}},)"},
      {"2.9", R"("nccl_version":"2.27.3",)"},
      {"2.10", R"("comm_lib_version":"2.28.9","nccl_comm_state":{},)"},
      {"2.99", R"("new_field":[{}],)"}};
  int rank = 0;
  std::vector<std::string> paths;
  for (const auto& [version, more] : versions) paths.push_back(dump("trace_" + std::to_string(rank++), version, more));
  const auto report = import(paths);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->processes, versions.size());
  EXPECT_TRUE(report->problems.empty());
  for (int one = 0; one < rank; ++one) {
    const auto calls = calls_of(one);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].seq, 11U);
    EXPECT_EQ(calls[0].count_in, 32U);
  }
}

TEST_F(ImportTest, AnotherMajorVersionIsRefused) {
  EXPECT_NE(refusal({dump("trace_0", "3.0")}).find("its version is 3.0, and only 2.x is known"), std::string::npos);
}

TEST_F(ImportTest, WhatWasRetiredWithoutCompletingHasFailed) {
  ASSERT_TRUE(import({dump("d_0", "2.9", "", R"("state":"started","retired":true)"),
                      dump("d_1", "2.9", "", R"("state":"completed","retired":true,"time_discovered_started_ns":
                           1700000000000000500,"time_discovered_completed_ns":1700000000000000900)")})
                  .ok());
  EXPECT_EQ(calls_of(0)[0].outcome, Outcome::kFailed);
  EXPECT_EQ(calls_of(1)[0].outcome, Outcome::kCompleted);
  EXPECT_EQ(calls_of(1)[0].end_ns - calls_of(1)[0].start_ns, 400U);
}

TEST_F(ImportTest, WhatTheGroupsStatusSaysIsCompletedIs) {
  ASSERT_TRUE(import({dump("d_0", "2.9",
                           R"("pg_status":{"7":{"last_enqueued_collective":"12","last_completed_collective":"11"}},)"),
                      dump("d_1", "2.9",
                           R"("pg_status":{"7":{"last_enqueued_collective":11,"last_completed_collective":10}},)")})
                  .ok());
  EXPECT_EQ(calls_of(0)[0].outcome, Outcome::kCompleted);
  EXPECT_EQ(calls_of(1)[0].outcome, Outcome::kPending);
  const reader::Run run = testing::open_run(directory_ / "run");
  EXPECT_EQ(group_statuses(*run.find(0)).at(0).enqueued, 12);
}

TEST_F(ImportTest, ADumpIsOfTheRankThatItsGroupsLeave) {
  const std::string one =
      R"({"version":"2.9","pg_config":{"1":{"name":"1","desc":"a","ranks":"[2, 5]"},"2":{"name":"2","desc":"b","ranks":"[5, 6]"}}})";
  const auto report = import({file("dump_3", one)});
  ASSERT_TRUE(report.ok());
  EXPECT_NE(testing::open_run(directory_ / "run").find(5), nullptr);
  ASSERT_EQ(report->problems.size(), 1U);
  EXPECT_NE(report->problems[0].find("named as of rank 3, but its groups are those of rank 5"), std::string::npos);
  EXPECT_FALSE(report->data_lost);
}

TEST_F(ImportTest, ADumpWithoutAnyRankIsNamed) {
  EXPECT_NE(refusal({file("dump.json", R"({"version":"2.9","pg_config":{},"entries":[]})")})
                .find("let its name end in the rank's number"),
            std::string::npos);
}

TEST_F(ImportTest, FilesThatCannotBeUsedAreNamedAndTheOthersImported) {
  std::filesystem::create_directory(directory_ / "in");
  dump("in/trace_0", "2.9");
  file("in/checkpoint.pt", std::string("PK\x03\x04 and more"));
  file("in/empty", "");
  file("in/cut_1", R"({"version":"2.9","pg_config":{"3":)");
  file("in/notes.txt", "nothing that is known\n");
  file("in/.hidden", "not looked at");
  const auto report = import({directory_ / "in", directory_ / "absent"});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->processes, 1U);
  EXPECT_EQ(report->files.size(), 1U);
  EXPECT_TRUE(report->data_lost);
  const auto said = [&](const std::string& part) {
    return std::any_of(report->problems.begin(), report->problems.end(),
                       [&](const std::string& one) { return one.find(part) != std::string::npos; });
  };
  EXPECT_EQ(report->problems.size(), 5U);
  EXPECT_TRUE(said("absent does not exist"));
  EXPECT_TRUE(said("in/checkpoint.pt is a zip file"));
  EXPECT_TRUE(said("in/empty is an empty file"));
  EXPECT_TRUE(said("in/cut_1, byte "));
  EXPECT_TRUE(said("in/notes.txt is text, but"));
}

TEST_F(ImportTest, NothingUsableIsOneSentence) {
  EXPECT_NE(refusal({file("a", ""), file("b", "")}).find("is an empty file; it was left out. (and 1 more such"),
            std::string::npos);
  EXPECT_EQ(refusal({}), "There are no files to import.");
}

TEST_F(ImportTest, ARunThatIsThereIsNotTouched) {
  std::filesystem::create_directory(directory_ / "run");
  testing::write_file(directory_ / "run/keep", "me");
  const auto report = import({dump("trace_0", "2.9")});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("not empty; name a new directory"), std::string::npos);
  const auto onto_file = import_files({dump("trace_0", "2.9")}, dump("trace_1", "2.9"));
  EXPECT_FALSE(onto_file.ok());
}

TEST_F(ImportTest, StacksJoinTheRankThatALogGivesTheirProcess) {
  const auto report =
      import({file("stacks.txt",
                   "Process 77: python train.py\nPython v3.11.7 (/usr/bin/python3)\n\n"
                   "Thread 77 (active+gil): \"MainThread\"\n    step (train.py:9)\n    <module> (train.py:20)\n"),
              file("job.log",
                   "Failures:\n[0]:\n  time      : 2026-11-29_16:51:09\n  host      : node4\n"
                   "  rank      : 6 (local_rank: 2)\n  exitcode  : -9 (pid: 77)\n  error_file: <N/A>\n=====\n")});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->processes, 1U);
  const reader::Run run = testing::open_run(directory_ / "run");
  const Trace* const trace = run.find(6);
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->exit()->signal, 9);
  ASSERT_EQ(trace->definitions().stacks.size(), 1U);
  EXPECT_TRUE(trace->definitions().stacks[0].is(recorder::kHoldsInterpreterLock));
  EXPECT_EQ(trace->process().local_rank, 2);
}

TEST_F(ImportTest, ProgressIsTold) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 5; ++rank) paths.push_back(dump("trace_" + std::to_string(rank), "2.9"));
  std::size_t last = 0;
  ImportOptions options;
  options.progress = [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(all, 5U);
    last = done;
  };
  ASSERT_TRUE(import_files(paths, directory_ / "run", options).ok());
  EXPECT_EQ(last, 5U);
}

}  // namespace
}  // namespace plumbline::reader::imports
