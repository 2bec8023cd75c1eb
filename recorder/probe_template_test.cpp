#include "recorder/probe_template.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace plumbline::recorder {
namespace {

struct Parsed {
  ProbeTemplate description;
  std::vector<std::string> complaints;
};

Parsed parse(std::string_view text) {
  Parsed parsed;
  parsed.description = parse_template(text, parsed.complaints);
  return parsed;
}

// The only complaint about a text.
std::string complaint(std::string_view text) {
  const Parsed parsed = parse(text);
  return parsed.complaints.size() == 1 ? parsed.complaints[0]
                                       : std::to_string(parsed.complaints.size()) + " complaints";
}

TEST(ProbeTemplate, SaysWhereProbesSit) {
  const Parsed parsed = parse(R"(
framework = "own"
launch = "torchrun train.py"
[probe.logits]
at = "module:lm_head"
what = "output"
amount = "sample:16+hash"
[probe."activation.attention"]
at = ["module:layers.*.attn", "function:package.module.attention"]
what = "input.query"
[probe.token_loss]
at = "operator:aten::nll_loss_nd"
what = "output.1"
[replicas]
"**.norm.weight" = "tp"
[names]
"layers.*.w" = "model.layers.*.weight"
)");
  EXPECT_EQ(parsed.complaints, std::vector<std::string>{});
  EXPECT_EQ(parsed.description.framework, "own");
  EXPECT_EQ(parsed.description.launch, "torchrun train.py");
  ASSERT_EQ(parsed.description.probes.size(), 4u);
  const TemplateProbe& module = parsed.description.probes[0];
  EXPECT_EQ(module.probe, "activation.attention");
  EXPECT_EQ(module.target, "layers.*.attn");
  EXPECT_FALSE(module.output);
  EXPECT_EQ(module.selector, "query");
  EXPECT_EQ(parsed.description.probes[1].kind, PlaceKind::kFunction);
  EXPECT_EQ(parsed.description.probes[2].amount, "sample:16+hash");
  EXPECT_EQ(parsed.description.probes[3].kind, PlaceKind::kOperator);
  EXPECT_EQ(parsed.description.probes[3].selector, "1");
  EXPECT_EQ(parsed.description.replicas[0].second, "tp");
  EXPECT_EQ(parsed.description.names[0].first, "layers.*.w");
}

TEST(ProbeTemplate, OfTheRootModuleHasAnEmptyPath) {
  const Parsed parsed = parse("[probe.input_ids]\nat = \"module:\"\nwhat = \"input.input_ids\"\n");
  ASSERT_EQ(parsed.description.probes.size(), 1u);
  EXPECT_EQ(parsed.description.probes[0].target, "");
}

TEST(ProbeTemplate, EachMistakeIsOneSentence) {
  EXPECT_EQ(complaint("probes = 1"),
            "probes is not a field of a template; there are: framework, launch, probe, replicas, names");
  EXPECT_EQ(complaint("[probe.logit]\nat = \"module:x\"").substr(0, 45),
            "logit is not a probe; there are: input_ids, p");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"module:x\"\nwhere = \"y\""),
            "probe.loss.where is not a field of a probe; there are: at, what, amount");
  EXPECT_EQ(complaint("[probe.loss]\nwhat = \"output\""),
            "probe.loss does not say at which place it sits: at is missing");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"layer:x\""),
            "probe.loss.at takes module:PATTERN, function:package.module.name or operator:namespace::name");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"lm_head\""),
            "probe.loss.at takes module:PATTERN, function:package.module.name or operator:namespace::name");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"function:loss\""),
            "probe.loss.at: loss is no function path, as package.module.name");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"operator:nll_loss\""),
            "probe.loss.at: nll_loss is no operator name, as aten::name");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"module:a..b\""),
            "probe.loss.at: a..b is no module pattern, as layers.*.attn");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"module:x\"\nwhat = \"result\""),
            "probe.loss.what takes output, input, or an item of them as output.1 or input.labels");
  EXPECT_EQ(complaint("[probe.loss]\nat = \"module:x\"\namount = \"much\""),
            "probe.loss.amount takes full, sample:N, hash, stats, joined by +, or none");
  EXPECT_EQ(complaint("[names]\n\"a.*\" = \"b\""),
            "names.a.* has another number of * than the name that it stands for");
  EXPECT_EQ(complaint("framework = 7"), "framework must be a text");
  EXPECT_EQ(complaint("probe = 7"), "probe must be a table");
  EXPECT_EQ(complaint("[probe]\nloss = 7"), "probe.loss must be a table");
}

TEST(ProbeTemplate, ThatIsNoTomlNamesTheLine) {
  EXPECT_EQ(complaint("framework = \"x\"\n[probe").substr(0, 8), "line 2: ");
  EXPECT_EQ(complaint("[=").substr(0, 8), "line 1: ");  // an assertion of the parser's
}

TEST(ProbeTemplate, KeepsWhatIsRightBesideAMistake) {
  const Parsed parsed = parse("[probe.loss]\nat = \"module:x\"\nwat = 1\n[probe.labels]\nat = \"module:y\"\n");
  EXPECT_EQ(parsed.complaints.size(), 1u);
  ASSERT_EQ(parsed.description.probes.size(), 1u);
  EXPECT_EQ(parsed.description.probes[0].probe, "labels");
}

TEST(ProbeTemplate, FromAFileNamesItInComplaints) {
  const std::string path = ::testing::TempDir() + "/plumbline_template_test.toml";
  std::ofstream(path) << "colour = \"red\"\n";
  std::vector<std::string> complaints;
  read_template(path, complaints);
  ASSERT_EQ(complaints.size(), 1u);
  EXPECT_EQ(complaints[0].substr(0, path.size() + 8), path + ": colour");
  std::remove(path.c_str());
  read_template(path, complaints);
  ASSERT_EQ(complaints.size(), 2u);
  EXPECT_EQ(complaints[1], "cannot read the template " + path + ": No such file or directory");
}

TEST(ProbeTemplate, AsJson) {
  const Parsed parsed = parse("framework = \"a\\\"b\"\n[probe.loss]\nat = \"module:x\"\n[replicas]\n\"a\" = \"tp\"\n");
  EXPECT_EQ(template_json(parsed.description),
            R"({"framework":"a\"b","probes":[{"probe":"loss","kind":"module","target":"x","output":true,)"
            R"("selector":"","amount":""}],"replicas":[["a","tp"]],"names":[]})");
}

TEST(ProbeTemplate, Amounts) {
  for (const char* good : {"full", "none", "hash", "stats", "sample:1", "sample:4096", "stats+hash", "sample:8+hash"}) {
    EXPECT_TRUE(is_amount(good)) << good;
  }
  for (const char* bad :
       {"", "sample", "sample:", "sample:x", "sample:-1", "full+", "+hash", "all", "none+full", "sample:99999999999"}) {
    EXPECT_FALSE(is_amount(bad)) << bad;
  }
}

}  // namespace
}  // namespace plumbline::recorder
