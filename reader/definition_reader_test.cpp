#include "reader/definition_reader.hpp"

#include <gtest/gtest.h>

#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

// Builds a message around a body and has it absorbed.
class DefinitionReaderTest : public ::testing::Test {
 protected:
  template <class Table>
  bool absorb(flatbuffers::Offset<Table> body) {
    builder_.Finish(trace::CreateMessage(builder_, trace::BodyTraits<Table>::enum_value, body.Union()));
    const bool taken = absorb_definition(*trace::GetMessage(builder_.GetBufferPointer()), definitions_);
    builder_.Clear();
    return taken;
  }
  void absorb_group(flatbuffers::Offset<trace::Group> group) {
    const std::vector groups = {group};
    absorb(trace::CreateGroupsDirect(builder_, &groups));
  }
  flatbuffers::FlatBufferBuilder builder_;
  Definitions definitions_;
};

TEST_F(DefinitionReaderTest, AProcessWithoutStringsIsStillOne) {
  EXPECT_TRUE(absorb(trace::CreateProcess(builder_, 1, 0, 0, 0, 77)));
  EXPECT_TRUE(definitions_.has_process);
  EXPECT_EQ(definitions_.process.pid, 77u);
  EXPECT_EQ(definitions_.process.host, "");
  EXPECT_EQ(definitions_.process.rank, -1);
}

TEST_F(DefinitionReaderTest, AnAbsurdWorldIsNotKnown) {
  absorb(trace::CreateProcess(builder_, 1, 0, 0, 0, 77, 0, 0, 3, 3, 1'900'000'000));
  EXPECT_EQ(definitions_.process.rank, 3);
  EXPECT_EQ(definitions_.process.world_size, -1);
}

TEST_F(DefinitionReaderTest, ListsThatAreMissingAreEmpty) {
  EXPECT_TRUE(absorb(trace::CreateFacts(builder_)));
  EXPECT_TRUE(absorb(trace::CreateTexts(builder_)));
  EXPECT_TRUE(absorb(trace::CreateGroups(builder_)));
  EXPECT_TRUE(absorb(trace::CreateThreads(builder_)));
  EXPECT_TRUE(absorb(trace::CreateHooks(builder_)));
  EXPECT_TRUE(definitions_.facts.empty());
}

TEST_F(DefinitionReaderTest, AGroupWithoutRanksHasAll) {
  absorb_group(trace::CreateGroupDirect(builder_, 5, "0", "default_pg", "gloo", 0, 1, 3));
  ASSERT_NE(definitions_.group(5), nullptr);
  EXPECT_EQ(definitions_.group(5)->ranks, (std::vector<int>{0, 1, 2}));
}

TEST_F(DefinitionReaderTest, AnAbsurdGroupIsRefused) {
  absorb_group(trace::CreateGroupDirect(builder_, 5, "0", "", "", 0, 1, 2'000'000'000));
  EXPECT_EQ(definitions_.group(5), nullptr);
  EXPECT_EQ(definitions_.refused(), 1u);
}

TEST_F(DefinitionReaderTest, HooksAreReplacedByTheirLatestCount) {
  for (const std::uint64_t fired : {3u, 9u}) {
    const std::vector hooks = {trace::CreateHookCountDirect(builder_, "fork", true, fired, "detail")};
    absorb(trace::CreateHooksDirect(builder_, 1, &hooks));
  }
  ASSERT_EQ(definitions_.hooks.size(), 1u);
  EXPECT_EQ(definitions_.hooks[0].fired, 9u);
}

TEST_F(DefinitionReaderTest, TheExitIsKept) {
  absorb(trace::CreateExitDirect(builder_, 10, 1, 6, "RuntimeError", "boom"));
  ASSERT_TRUE(definitions_.exit.has_value());
  EXPECT_EQ(definitions_.exit->signal, 6);
  EXPECT_EQ(definitions_.exit->exception_class, "RuntimeError");
}

TEST_F(DefinitionReaderTest, EventsAreLeftAlone) { EXPECT_FALSE(absorb(trace::CreateSamples(builder_))); }

TEST(ParseRanksTest, ReadsWhatItCan) {
  EXPECT_TRUE(parse_ranks("").empty());
  EXPECT_EQ(parse_ranks("3,1,2"), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(parse_ranks("3,x"), (std::vector<int>{3}));
}

}  // namespace
}  // namespace plumbline::reader
