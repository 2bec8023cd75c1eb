#include "tools/plumbline/templates.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "recorder/probe_template.hpp"
#include "tools/plumbline/scratch_directory.hpp"
#include "tools/plumbline/source_files.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

Finished show(const std::string& name) { return run_program({PLUMBLINE_COMMAND, "template", name}); }

TEST(Templates, ThatAreCarriedHaveNoMistakes) {
  ASSERT_GE(kTemplateCount, 4u);
  for (std::size_t i = 0; i < kTemplateCount; ++i) {
    std::vector<std::string> complaints;
    const auto description = recorder::parse_template(kTemplates[i].text, complaints);
    EXPECT_EQ(complaints, std::vector<std::string>{}) << kTemplates[i].path;
    EXPECT_FALSE(description.probes.empty()) << kTemplates[i].path;
    EXPECT_NE(kTemplates[i].path.find(description.framework), std::string_view::npos);
  }
}

TEST(Templates, AreListedAndShown) {
  const Finished list = run_program({PLUMBLINE_COMMAND, "template"});
  EXPECT_EQ(list.output, "megatron-core\npytorch\ntorchtitan\ntransformers\n");
  std::istringstream names(list.output);
  for (std::string name; std::getline(names, name);) {
    EXPECT_NE(show(name).output.find("framework = \"" + name + "\""), std::string::npos);
  }
}

TEST(Templates, OfTheUserAreChecked) {
  const ScratchDirectory scratch;
  const std::string good = scratch.write(
      "good.toml",
      "[probe.loss]\nat = \"module:\"\namount = \"full\"\n[probe.labels]\nat = \"function:a.b\"\nwhat = \"input.1\"\n");
  const Finished fine = show(good);
  EXPECT_EQ(fine.status, 0);
  EXPECT_EQ(fine.output, "labels: input.1 of function a.b\nloss: output of module at the root, full\n" + good +
                             ": 2 probes, 0 patterns of replicas, 0 names\n");
  const std::string bad = scratch.write("bad.toml", "[probe.lose]\nat = \"module:\"\n[probe.loss]\n");
  const Finished wrong = show(bad);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.errors.find("plumbline: " + bad + ": lose is not a probe; there are: input_ids"), std::string::npos)
      << wrong.errors;
  EXPECT_NE(wrong.errors.find("probe.loss does not say at which place it sits"), std::string::npos) << wrong.errors;
}

TEST(Templates, ThatAreNotThere) {
  const Finished missing = show("jax");
  EXPECT_EQ(missing.status, 2);
  EXPECT_EQ(missing.errors,
            "plumbline: there is no template jax; give a file, or one of: megatron-core, pytorch, torchtitan, "
            "transformers\n");
}

TEST(TemplateFile, IsTheUsersOrACarriedOne) {
  const ScratchDirectory scratch;
  std::string why;
  const std::string own = scratch.write("own.toml", "framework = \"own\"\n");
  EXPECT_EQ(template_file(own, scratch.path("cache"), why), own);
  EXPECT_EQ(template_file("transformers", scratch.path("cache"), why), scratch.path("cache/transformers.toml"));
  std::vector<std::string> complaints;
  EXPECT_FALSE(recorder::read_template(scratch.path("cache/transformers.toml"), complaints).probes.empty());
  EXPECT_EQ(why, "");
}

TEST(TemplateFile, WithMistakesIsNone) {
  const ScratchDirectory scratch;
  std::string why;
  EXPECT_EQ(template_file(scratch.write("own.toml", "frame = 1\n"), scratch.path("cache"), why), "");
  EXPECT_NE(why.find("frame is not a field of a template"), std::string::npos);
  why.clear();
  EXPECT_EQ(template_file("jax", scratch.path("cache"), why), "");
  EXPECT_NE(why.find("there is no template jax"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
