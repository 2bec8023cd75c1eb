#include "tools/plumbline/compare_outputs.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tools/plumbline/scratch_directory.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

using Words = std::vector<std::string>;

// Interpreters that are shell scripts: they write what the real script would have left.
class CompareOutputsTest : public ::testing::Test {
 protected:
  CompareOutputsTest() {
    scratch_.write("original/config.json", "{}");
    scratch_.write("exported/config.json", "{}");
  }

  Finished compare(const std::string& python, const Words& options = {}) {
    const std::string program = scratch_.write_program(
        "python", "#!/bin/sh\nwords=\"$*\"\nwhile [ \"$1\" != --output ]; do shift; done\nleft=\"$2\"\n" + python);
    return of({"--python", program}, options);
  }
  Finished of(const Words& python, const Words& options = {}) {
    Words command = {PLUMBLINE_COMMAND, "compare-outputs", scratch_.path("original"), scratch_.path("exported")};
    command.insert(command.end(), python.begin(), python.end());
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command);
  }
  static std::string model(const std::string& path) {
    return R"({"path": ")" + path +
           R"(", "dtype": "float32", "vocabulary": 9, "missing": [], "unexpected": [], "ends": [2], )"
           R"("tokenizer": false, "tokenizer_error": ""})";
  }
  // One prompt; what the export made of it.
  static std::string result(const std::string& exported) {
    return R"(cat > "$left" <<'END')"
           "\n"
           R"({"stage": "loading original"})"
           "\n"
           R"({"result": {"engine": "transformers 5", "original": )" +
           model("o") + R"(, "exported": )" + model("e") +
           R"(, "prompts": [{"prompt": "4 random tokens", "given": [1, 2, 3, 4], "original": [5, 6], )" + exported +
           R"(, "finite": true, "repeat_distance": 0.0}]}})"
           "\nEND\n";
  }
  const std::string same_ = R"("exported": [5, 6], "distance": 0.0)";
  const ScratchDirectory scratch_;
};

TEST_F(CompareOutputsTest, PassesWhatIsTheSame) {
  const Finished finished = compare(result(same_));
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output,
            "ok    outputs: 2 greedy tokens of 1 answer are the same, and their logits bit for bit (float32,\n"
            "      transformers 5)\n");
}

TEST_F(CompareOutputsTest, ShowsWhatDiffers) {
  const Finished finished = compare(result(R"("exported": [5, 7], "distance": 1.5, "lead": 0.5)"), {"--json"});
  EXPECT_EQ(finished.status, 1) << finished.errors;
  for (const char* words : {R"("schema": "plumbline.check.1")", R"("exit_status": 1)", "answer position 1: token 7"}) {
    EXPECT_NE(finished.output.find(words), std::string::npos) << words << finished.output;
  }
}

TEST_F(CompareOutputsTest, ADistanceThatIsNoNumberIsNotZero) {
  const Finished finished = compare(result(R"("exported": [5, 6], "distance": null)"));
  EXPECT_EQ(finished.status, 1) << finished.output;
  EXPECT_NE(finished.output.find("the export's logits are no numbers"), std::string::npos) << finished.output;
}

TEST_F(CompareOutputsTest, HandsItsOptionsToTheScript) {
  const std::string prompts = scratch_.write("prompts.txt", "one\n");
  const Finished finished = compare("echo \"$words\" >&2; exit 1\n", {"--prompts", prompts, "--tokens", "3", "--device",
                                                                      "cuda:1", "--trust-remote-code"});
  EXPECT_NE(finished.errors.find("--device cuda:1 --tokens 3 --prompts " + prompts + " --trust-remote-code"),
            std::string::npos)
      << finished.errors;
}

TEST_F(CompareOutputsTest, SaysWhyNothingWasCompared) {
  const Finished refused = compare("echo '{\"refused\": \"there is no transformers\"}' > $left\n");
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.errors, "plumbline: there is no transformers\n");
  const Finished killed = compare("echo '{\"stage\": \"loading exported\"}' > $left\nkill -9 $$\n");
  EXPECT_EQ(killed.status, 2);
  EXPECT_NE(killed.errors.find("was killed while loading exported, as when memory runs out"), std::string::npos)
      << killed.errors;
  const Finished raised = compare("echo Traceback >&2\necho 'SyntaxError: bad' >&2\nexit 3\n");
  EXPECT_EQ(raised.status, 2);
  EXPECT_NE(raised.errors.find("ended with status 3 before it began: SyntaxError: bad\n"), std::string::npos)
      << raised.errors;
  const Finished cut = compare("echo '{\"result\": {\"engine\"' > $left\n");
  EXPECT_EQ(cut.status, 2);
}

TEST_F(CompareOutputsTest, RefusesWhatIsNoModel) {
  const auto words = [](const Words& command) { return run_program(command); };
  const std::string file = scratch_.write("model.safetensors", "");
  const std::string good = scratch_.path("original");
  const std::vector<std::pair<std::string, const char*>> cases = {
      {scratch_.path("nowhere"), "nowhere is not there"},
      {"", "'' is not there"},
      {file, "model.safetensors is a file; give the directory that holds it together with config.json"},
      {scratch_.path(""), "has no config.json, so it is no model that transformers can load"}};
  for (const auto& [path, why] : cases) {
    const Finished finished = words({PLUMBLINE_COMMAND, "compare-outputs", good, path});
    EXPECT_EQ(finished.status, 2) << path;
    EXPECT_NE(finished.errors.find(why), std::string::npos) << finished.errors;
  }
  EXPECT_EQ(of({"--python", "/nonexistent/python"}).errors,
            "plumbline: --python /nonexistent/python: there is no such program\n");
  EXPECT_EQ(of({}, {"--prompts", "/nonexistent/prompts"}).status, 2);
  EXPECT_EQ(run_program({"env", "TMPDIR=/nonexistent", PLUMBLINE_COMMAND, "compare-outputs", good, good}).status, 2);
}

}  // namespace
}  // namespace plumbline::tools
