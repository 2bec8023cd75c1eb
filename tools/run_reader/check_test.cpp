#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <sstream>

#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/testing/records.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/run_reader.hpp"

namespace plumbline::tools {
namespace {

namespace files = reader::testing;

struct Said {
  int status = 0;
  std::string out;
  std::string err;
};

class CheckTest : public ::testing::Test {
 protected:
  static Said say(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    std::ostringstream out;
    std::ostringstream err;
    const int status = run_reader(arguments, out, err, false);
    return {status, out.str(), err.str()};
  }
  std::string state(const std::string& name, unsigned seed) {
    const std::string path = directory_ / (name + ".safetensors");
    files::write_safetensors(path,
                             {files::tensor("layer.weight", {8, 8}, seed), files::tensor("head.weight", {8, 4}, 3)});
    return path;
  }
  // A run whose only rank captured a parameter before its first step; its template's [names] are facts.
  std::string run(const std::vector<float>& values, const std::vector<std::string>& names = {},
                  const std::map<std::string, std::string>& facts = {}, const std::string& name = "run") {
    const std::string path = directory_ / name;
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    checks::testing::FakeRank rank(path, 0, 1);
    for (std::size_t i = 0; i < names.size(); ++i) rank.trace().fact("template.names." + std::to_string(i), names[i]);
    for (const auto& [key, value] : facts) rank.trace().fact(key, value);
    rank.step(1, 2);
    rank.exit(0);
    checks::testing::CaptureJob job(path, 0);
    job.tensor("param.before", "w", 0, recorder::Dtype::kFloat32, {values.size()}, checks::testing::bytes_of(values));
    job.finish();
    return path;
  }

  files::TempDir directory_;
};

TEST_F(CheckTest, AloneItListsTheChecks) {
  const Said said = say({});
  EXPECT_EQ(said.status, kExitFine);
  for (const char* name : {"hang", "load", "resume", "export"}) {
    EXPECT_NE(said.out.find(std::string("\n  ") + name + " "), std::string::npos) << name;
  }
  EXPECT_NE(said.out.find("is the exported checkpoint the original, whole and readable?"), std::string::npos);
}

TEST_F(CheckTest, TwoFilesNeedNoRun) {
  const Said same = say({"export", state("a", 1), "--reference", state("b", 1)});
  EXPECT_EQ(same.status, kExitFine) << same.out << same.err;
  EXPECT_EQ(same.out, "ok    export: all 2 tensors equal the original bit for bit (384 B)\n");
  const Said other = say({"export", state("a", 2), "--reference", state("b", 1)});
  EXPECT_EQ(other.status, kExitFindings);
  EXPECT_EQ(other.out.find("FAIL  export: 1 of 2 tensors of the export"), 0U) << other.out;
  EXPECT_NE(other.out.find("\n      next: "), std::string::npos);
}

TEST_F(CheckTest, AllOfThemJudgeAStateOfTheirOwn) {
  const Said said = say({"--all", state("a", 1), "--reference", state("b", 1)});
  EXPECT_EQ(said.status, kExitFine);
  EXPECT_NE(said.out.find("ok    load:"), std::string::npos);
  EXPECT_NE(said.out.find("ok    resume:"), std::string::npos);
  EXPECT_NE(said.out.find("ok    export:"), std::string::npos);
}

TEST_F(CheckTest, JsonAndJunit) {
  const std::string junit = directory_ / "junit.xml";
  const Said said = say({"load", state("a", 2), "--reference", state("b", 1), "--json", "--junit", junit});
  const Json json = Json::parse(said.out);
  EXPECT_EQ(json["schema"], "plumbline.check.1");
  EXPECT_EQ(json["exit_status"], kExitFindings);
  EXPECT_EQ(json["verdicts"][0]["check"], "load");
  EXPECT_EQ(json["verdicts"][0]["status"], "fail");
  const auto bytes = files::read_file(junit);
  EXPECT_NE(std::string(bytes.begin(), bytes.end()).find("failures=\"1\""), std::string::npos);
  EXPECT_EQ(say({"load", state("a", 1), "--reference", state("b", 1), "--junit", "/nowhere/x"}).status, kExitUsage);
}

TEST_F(CheckTest, WithoutAReferenceNothingIsPassed) {
  const Said said = say({"export", state("a", 1)});
  EXPECT_EQ(said.status, kExitInconclusive);
  EXPECT_NE(said.out.find("--reference"), std::string::npos);
}

TEST_F(CheckTest, WrongUsageIsOneSentence) {
  EXPECT_NE(say({"nothing", "x"}).err.find("there is no check nothing; there are: hang"), std::string::npos);
  EXPECT_NE(say({"export"}).err.find("say of what"), std::string::npos);
  EXPECT_NE(say({"--all"}).err.find("say of what"), std::string::npos);
  EXPECT_NE(say({"export", "a", "b"}).err.find("give a name and one run"), std::string::npos);
  EXPECT_NE(say({"hang", state("a", 1)}).err.find("looks at a run"), std::string::npos);
  const std::string one = state("a", 1);
  EXPECT_NE(say({"load", one, "--reference", one, "--reference", one}).err.find("give one --reference"),
            std::string::npos);
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"nothing", "x"}, {"export"}, {"hang", one}}) {
    EXPECT_EQ(say(arguments).status, kExitUsage);
  }
}

TEST_F(CheckTest, WhatCannotBeReadIsNamed) {
  const std::string damaged = directory_ / "damaged.safetensors";
  files::write_file(damaged, std::string_view("cut"));
  const Said said = say({"load", state("a", 1), "--reference", damaged});
  EXPECT_EQ(said.status, kExitUsage);
  EXPECT_NE(said.err.find(damaged), std::string::npos);
  EXPECT_EQ(say({"load", damaged, "--reference", state("a", 1)}).status, kExitUsage);
  EXPECT_EQ(say({"load", state("a", 1), "--reference", directory_ / "absent"}).status, kExitUsage);
}

TEST_F(CheckTest, WhatIsNoCheckpointIsToldOfAsOne) {
  const std::string one = state("a", 1);
  const std::string folder = directory_ / "text";
  std::filesystem::create_directories(folder);
  files::write_file(folder + "/readme.txt", std::string_view("hello"));
  const Said wrong = say({"export", folder, "--reference", one});
  EXPECT_EQ(wrong.status, kExitUsage);
  EXPECT_NE(wrong.err.find("text holds no checkpoint: no .safetensors file"), std::string::npos) << wrong.err;
  EXPECT_NE(say({"load", directory_ / "absent", "--reference", one}).err.find("absent is not there"),
            std::string::npos);
  EXPECT_NE(say({"data"}).err.find("check data: say of what, a run.\n"), std::string::npos);
}

// A directory with one file, cut off: on either side the file is named, and nothing fails for what could not be read.
TEST_F(CheckTest, DamageIsTheReasonWhereNothingElseIsThere) {
  const std::string folder = directory_ / "cut";
  std::filesystem::create_directories(folder);
  files::write_file(folder + "/model.safetensors", std::string_view("cut"));
  const std::string one = state("a", 1);
  for (const char* check : {"load", "resume", "export"}) {
    const Said as_reference = say({check, one, "--reference", folder});
    EXPECT_EQ(as_reference.status, kExitInconclusive) << as_reference.out;
    EXPECT_NE(as_reference.out.find("cut/model.safetensors"), std::string::npos) << as_reference.out;
    const Said as_subject = say({check, folder, "--reference", one});
    EXPECT_EQ(as_subject.status, std::string_view(check) == "export" ? kExitFindings : kExitInconclusive);
    EXPECT_NE(as_subject.out.find("cut/model.safetensors"), std::string::npos) << as_subject.out;
  }
}

TEST_F(CheckTest, ACheckOfARunIsCalledByName) {
  const std::string path = run({1, 2, 3});
  const Said said = say({"hang", path});
  EXPECT_NE(said.out.find("hang: "), std::string::npos) << said.out << said.err;
  EXPECT_EQ(said.out.find("mismatch: "), std::string::npos);
}

TEST_F(CheckTest, WhatARunCapturedIsComparedWithTheOriginal) {
  const std::string path = run({1, 2, 3});
  const std::string original = directory_ / "original.safetensors";
  files::write_safetensors(original, {files::tensor_of("w", {3}, {1, 2, 3})});
  const Said same = say({"load", path, "--reference", original});
  EXPECT_EQ(same.status, kExitFine) << same.out << same.err;
  EXPECT_NE(same.out.find("(the parameters before the first step)"), std::string::npos) << same.out;
  files::write_safetensors(original, {files::tensor_of("w", {3}, {1, 2, 4})});
  const Said other = say({"load", path, "--reference", original});
  EXPECT_EQ(other.status, kExitFindings);
  EXPECT_NE(other.out.find("rank 0: 1 of 1 tensor of the module differ: w"), std::string::npos) << other.out;
  EXPECT_EQ(say({"resume", path, "--reference", original}).status, kExitInconclusive) << "it captured no load";
}

TEST_F(CheckTest, StepsOfOtherVersionsAreNotCompared) {
  const std::string path = run({1, 2, 3}, {}, {{"torch.version", "2.11.0"}});
  const std::string reference = run({1, 2, 3}, {}, {{"torch.version", "2.6.0"}}, "reference");
  const Said said = say({"resume", path, "--reference", reference});
  EXPECT_EQ(said.status, kExitInconclusive) << said.out << said.err;
  EXPECT_NE(said.out.find("this run has torch 2.11.0, the reference torch 2.6.0"), std::string::npos) << said.out;
}

TEST_F(CheckTest, CapturesOfAnotherRunAreNoReference) {
  const std::string path = run({1, 2, 3});
  const std::string other = directory_ / "other";
  std::filesystem::create_directories(other);
  checks::testing::FakeRank rank(other, 5, 8);
  rank.exit(0);
  std::filesystem::copy(path + "/captures", other + "/captures");
  const Said said = say({"resume", path, "--reference", other});
  EXPECT_EQ(said.status, kExitUsage) << said.out << said.err;
  EXPECT_NE(said.err.find("other is a run that captured nothing"), std::string::npos) << said.err;
  const Said subject = say({"load", other, "--reference", state("a", 1)});
  EXPECT_EQ(subject.status, kExitInconclusive);
  EXPECT_NE(subject.out.find("put it beside the traces of its own run"), std::string::npos) << subject.out;
}

TEST_F(CheckTest, ATemplateNamesParametersAsTheOriginalDoes) {
  const std::string original = directory_ / "original.safetensors";
  files::write_safetensors(original, {files::tensor_of("model.head.weight", {3}, {1, 2, 3})});
  const std::string named = run({1, 2, 3}, {"no.such\tother", "w\tmodel.head.weight"});
  const Said same = say({"load", named, "--reference", original});
  EXPECT_EQ(same.status, kExitFine) << same.out << same.err;
  const Said other = say({"load", run({1, 2, 4}, {"w\tmodel.head.weight"}), "--reference", original});
  EXPECT_EQ(other.status, kExitFindings);
  EXPECT_NE(other.out.find("differ: model.head.weight"), std::string::npos) << other.out;
  // Named otherwise than the original does, or not at all.
  const Said wrong = say({"load", run({1, 2, 3}, {"w\tmodel.head.bias"}), "--reference", original});
  EXPECT_EQ(wrong.status, kExitFindings);
  EXPECT_NE(wrong.out.find("1 of the file's 1 tensor are not in the module: model.head.weight"), std::string::npos)
      << wrong.out;
  const Said absent = say({"load", run({1, 2, 3}, {"v\tmodel.head.weight"}), "--reference", original});
  EXPECT_EQ(absent.status, kExitInconclusive);
  EXPECT_NE(absent.out.find("[names] have no word for 1 tensor of the module (w)"), std::string::npos) << absent.out;
}

}  // namespace
}  // namespace plumbline::tools
