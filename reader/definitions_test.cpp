#include "reader/definitions.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader {
namespace {

Group group_of(std::uint64_t id, const std::string& description, std::vector<int> ranks, int rank = 0) {
  Group group;
  group.id = id;
  group.name = "g" + std::to_string(id);
  group.description = description;
  group.rank = rank;
  group.size = static_cast<int>(ranks.size());
  group.ranks = std::move(ranks);
  return group;
}

TEST(DefinitionsTest, TheLastValueOfAFactWins) {
  Definitions definitions;
  definitions.add_fact("a", "1");
  definitions.add_fact("b", "2");
  definitions.add_fact("a", "3");
  EXPECT_EQ(definitions.fact("a"), "3");
  EXPECT_EQ(definitions.fact("none"), "");
  ASSERT_EQ(definitions.facts.size(), 2u);
  EXPECT_EQ(definitions.facts[0].first, "a");
}

TEST(DefinitionsTest, AnUnknownTextIsAQuestionMark) {
  Definitions definitions;
  definitions.add_text(5, "forward");
  EXPECT_EQ(definitions.text(5), "forward");
  EXPECT_EQ(definitions.text(6), "?");
}

TEST(DefinitionsTest, AGroupDefinedAgainReplacesItself) {
  Definitions definitions;
  definitions.add_group(group_of(1, "old", {0, 1}));
  definitions.add_group(group_of(1, "new", {0, 1}));
  ASSERT_EQ(definitions.groups.size(), 1u);
  EXPECT_EQ(definitions.group(1)->description, "new");
  EXPECT_EQ(definitions.group(2), nullptr);
}

TEST(DefinitionsTest, PyTorchNamesTheWorld) {
  Definitions definitions;
  definitions.add_group(group_of(1, "", {0, 1, 2, 3}));
  definitions.add_group(group_of(2, "default_pg", {0, 1, 2, 3}, 2));
  EXPECT_EQ(definitions.world_group()->id, 2u);
}

TEST(DefinitionsTest, WithoutItsNameTheWorldIsTheLargestWholeGroup) {
  Definitions definitions;
  definitions.process.world_size = 4;
  definitions.add_group(group_of(1, "", {0, 1}));
  EXPECT_EQ(definitions.world_group(), nullptr) << "smaller than the environment says";
  definitions.add_group(group_of(2, "", {0, 2, 4, 6}));
  EXPECT_EQ(definitions.world_group(), nullptr) << "not all ranks";
  definitions.add_group(group_of(3, "", {0, 1, 2, 3}));
  EXPECT_EQ(definitions.world_group()->id, 3u);
}

TEST(DefinitionsTest, AGroupWithoutRanksHasAll) {
  Definitions definitions;
  Group group = group_of(1, "", {});
  group.size = 3;
  definitions.add_group(group);
  EXPECT_EQ(definitions.group(1)->ranks, (std::vector<int>{0, 1, 2}));
  group.size = -4;
  definitions.add_group(group);
  EXPECT_TRUE(definitions.group(1)->ranks.empty());
}

TEST(DefinitionsTest, MemoryIsBounded) {
  Definitions definitions;
  const std::string text(1 << 20, 'x');
  for (std::uint64_t id = 0; id < 100; ++id) definitions.add_text(id, text);
  EXPECT_GE(definitions.refused(), 36u);
  EXPECT_LE(definitions.texts.size(), 64u);
  EXPECT_EQ(definitions.text(0).size(), text.size());
}

TEST(DefinitionsTest, GlobalRanksOfAGroup) {
  const Group group = group_of(1, "", {4, 6, 8});
  EXPECT_EQ(group.global_rank(1), 6);
  EXPECT_EQ(group.global_rank(-1), -1);
  EXPECT_EQ(group.global_rank(3), -1);
}

TEST(DefinitionsTest, ARingServesOneThreadAfterTheOther) {
  Definitions definitions;
  definitions.add_thread({1, 1, 100, "first"});
  definitions.add_thread({1, 2, 101, "second"});
  definitions.add_thread({2, 1, 102, "other"});
  EXPECT_EQ(definitions.thread(1, 1)->name, "first");
  EXPECT_EQ(definitions.thread(1, 2)->name, "second");
  EXPECT_EQ(definitions.thread(1)->name, "second");
  EXPECT_EQ(definitions.thread(1, 3), nullptr);
  EXPECT_EQ(definitions.thread(9), nullptr);
}

}  // namespace
}  // namespace plumbline::reader
