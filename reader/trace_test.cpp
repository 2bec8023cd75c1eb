#include "reader/trace.hpp"

#include <gtest/gtest.h>

#include "reader/steps.hpp"
#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using testing::open_trace;
using testing::rows_of;
using testing::TempDir;
using testing::write_small_trace;

constexpr std::uint64_t kStart = 1'000'000'000;

TEST(TraceTest, KnowsItsProcessAtOnce) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path(), {.pid = 42, .rank = 3, .world_size = 8}));
  EXPECT_EQ(trace.rank(), 3);
  EXPECT_TRUE(trace.rank_confirmed());
  EXPECT_EQ(trace.pid(), 42u);
  EXPECT_EQ(trace.host(), "host0");
  EXPECT_EQ(trace.attempt(), 0);
}

TEST(TraceTest, GivesEveryEventOnceAndInOrder) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  const std::vector<std::string> rows = rows_of(trace);
  ASSERT_EQ(rows.size(), 22u);
  EXPECT_EQ(rows[0], "range_begin@1001000000");
  EXPECT_EQ(rows[3], "collective@1001000200");
  EXPECT_EQ(rows[4], "collective_start@1001000210");
  EXPECT_EQ(rows[10], "sample@1001000420");
  EXPECT_EQ(rows_of(trace), rows) << "a second reading gives the same";
}

TEST(TraceTest, DefinitionsExitAndEnd) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  EXPECT_EQ(trace.definitions().fact("python"), "3.11.2");
  ASSERT_NE(trace.exit(), nullptr);
  EXPECT_EQ(trace.exit()->status, 0);
  EXPECT_TRUE(trace.clean_end());
  EXPECT_EQ(trace.ring_join(), RingJoin::kNotNeeded);
  EXPECT_TRUE(trace.damage().empty());
  EXPECT_FALSE(trace.stats().data_lost());
  EXPECT_EQ(trace.stats().value("events"), 22u);
  EXPECT_EQ(trace.first_ns(), kStart + 1'000'000);
  EXPECT_EQ(trace.last_ns(), kStart + 2'000'420);
  EXPECT_EQ(trace.steps().count(), 2);
}

TEST(TraceTest, ATraceWithoutEndIsReadAndSaysSo) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path(), {}, false));
  EXPECT_EQ(rows_of(trace).size(), 22u);
  EXPECT_EQ(trace.exit(), nullptr);
  EXPECT_FALSE(trace.clean_end());
  EXPECT_EQ(trace.ring_join(), RingJoin::kNone);
  EXPECT_EQ(trace.stats().value("ring_missing"), 1u);
  EXPECT_TRUE(trace.stats().data_lost());
}

TEST(TraceTest, ReadsOnlyTheKindsAskedFor) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  EXPECT_EQ(rows_of(trace, {.kinds = kSamples}).size(), 2u);
  EXPECT_EQ(rows_of(trace, {.kinds = kMarks | kCollectives}).size(), 6u);
  EXPECT_TRUE(rows_of(trace, {.kinds = kComms}).empty());
}

TEST(TraceTest, LeavesOutFramesOutsideTheWindow) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  const Query first{.from_ns = 0, .to_ns = kStart + 1'500'000};
  EXPECT_EQ(rows_of(trace, first).size(), 11u);
  const Query second{.from_ns = kStart + 1'500'000};
  EXPECT_EQ(rows_of(trace, second).size(), 11u);
  EXPECT_EQ(rows_of(trace, {.from_ns = kStart + 5'000'000}).size(), 0u);
}

TEST(TraceTest, AVisitorMayStopAndReadAgain) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  int frames = 0;
  trace.read({}, [&](const FrameView&) { return ++frames < 1; });
  EXPECT_EQ(frames, 1);
  EXPECT_EQ(rows_of(trace).size(), 22u);
}

TEST(TraceTest, TwoCursorsMayWalkAtTheSameTime) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path()));
  FrameCursor a(trace, {});
  FrameCursor b(trace, {.kinds = kSamples});
  int from_a = 0;
  int from_b = 0;
  for (bool more = true; more;) {
    const bool more_a = a.next() != nullptr;
    const bool more_b = b.next() != nullptr;
    from_a += more_a;
    from_b += more_b;
    more = more_a || more_b;
  }
  EXPECT_EQ(from_a, 2);
  EXPECT_EQ(from_b, 2);
}

TEST(TraceTest, BatchesKnowTheirThread) {
  TempDir directory;
  const Trace trace = open_trace(write_small_trace(directory.path(), {.pid = 42}));
  trace.read({.kinds = kMarks}, [&](const FrameView& frame) {
    EXPECT_EQ(frame.marks[0].generation, 1u);
    const Thread* thread = trace.definitions().thread(frame.marks[0].ring, frame.marks[0].generation);
    EXPECT_EQ(thread != nullptr ? thread->name : "none", "gloo");
    return true;
  });
}

TEST(TraceTest, DropsAreCountedByKind) {
  TempDir directory;
  recorder::TraceBuilder builder(directory.path());
  builder.add(0, testing::alloc(kStart, 16, 16));
  builder.drop(Kind::kAlloc, 7);
  builder.finish({});
  const Trace trace = open_trace(builder.path());
  EXPECT_EQ(trace.dropped()[static_cast<std::size_t>(Kind::kAlloc)], 7u);
  EXPECT_EQ(trace.stats().value("dropped.alloc"), 7u);
  EXPECT_TRUE(trace.stats().data_lost());
}

std::string joined_files(const TempDir& directory, const std::string& first, const std::string& second) {
  auto bytes = testing::read_file(first);
  const auto more = testing::read_file(second);
  bytes.insert(bytes.end(), more.begin(), more.end());
  testing::write_file(directory / "joined.plt", bytes);
  return directory / "joined.plt";
}

// cat a.plt b.plt: nothing of the second may be credited to the first, or the other way round.
TEST(TraceTest, FilesThatWereJoinedToOne) {
  for (const bool finish : {true, false}) {
    const TempDir directory;
    const std::string first = write_small_trace(directory.path(), {.pid = 42, .rank = 0}, finish);
    const std::string second = write_small_trace(directory.path(), {.pid = 43, .rank = 1}, finish);
    const Trace alone = open_trace(first);
    const Trace trace = open_trace(joined_files(directory, first, second));
    EXPECT_EQ(trace.pid(), 42U);
    EXPECT_EQ(trace.rank(), alone.rank());
    EXPECT_EQ(rows_of(trace), rows_of(alone));
    EXPECT_EQ(trace.clean_end(), finish);
    EXPECT_EQ(trace.stats().value("traces_joined"), 1U);
    EXPECT_TRUE(trace.stats().data_lost());
    EXPECT_EQ(alone.stats().value("traces_joined"), 0U);
  }
}

TEST(TraceTest, ATraceThatWasJoinedToItselfCountsOnce) {
  const TempDir directory;
  const std::string path = write_small_trace(directory.path());
  const Trace trace = open_trace(joined_files(directory, path, path));
  EXPECT_EQ(rows_of(trace), rows_of(open_trace(path)));
  EXPECT_EQ(trace.stats().value("traces_joined"), 1U);
}

TEST(TraceTest, SaysWhyAFileCannotBeRead) {
  TempDir directory;
  const auto complaint = [](const std::string& path) { return Trace::open(path, {}).status(); };
  EXPECT_EQ(complaint(directory / "nothing").code(), Code::kNotFound);
  testing::write_file(directory / "empty.plt", "");
  EXPECT_EQ(complaint(directory / "empty.plt").code(), Code::kEmpty);
  testing::write_file(directory / "text.plt", "Lorem ipsum dolor sit amet, consectetur adipiscing elit.");
  EXPECT_EQ(complaint(directory / "text.plt").code(), Code::kDamaged);
  EXPECT_NE(complaint(directory / "text.plt").message().find("text.plt"), std::string::npos);
  EXPECT_EQ(complaint(directory.path()).code(), Code::kForeign);
}

}  // namespace
}  // namespace plumbline::reader
