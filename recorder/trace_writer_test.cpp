// Frames, seek table and evictions, checked with the zstd tool where it has a word to say.
#include "recorder/trace_writer.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"
#include "recorder/trace_builder.hpp"

namespace plumbline::recorder {
namespace {

using testing::read_trace;
using testing::ScratchDirectory;

int run(const std::string& command) { return std::system(command.c_str()); }

// Events that compress badly, so that frames have a size worth evicting.
void add_noise(TraceBuilder& trace, std::uint64_t frames, std::uint64_t events_each) {
  std::mt19937_64 random(frames);
  for (std::uint64_t frame = 0; frame < frames; ++frame) {
    for (std::uint64_t i = 0; i < events_each; ++i) {
      trace.add(0, testing::alloc_record(1 + frame * events_each + i, random(), random()));
    }
    trace.text("frame " + std::to_string(frame));
    trace.flush();
  }
}

TEST(TraceWriter, TheZstdToolAcceptsAndOpensWhatItWrites) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path());
  add_noise(trace, 5, 100);
  trace.finish({});
  EXPECT_EQ(run("zstd -q -t " + trace.path()), 0);
  EXPECT_EQ(run("zstd -q -d -o " + scratch / "opened" + " --format=zstd -f " + trace.path()), 0);
  // Decompressed it is a stream of messages with their sizes before them.
  std::FILE* file = std::fopen((scratch / "opened").c_str(), "rb");
  std::uint32_t length = 0;
  std::size_t messages = 0;
  while (std::fread(&length, sizeof(length), 1, file) == 1) {
    std::vector<char> message(length);
    ASSERT_EQ(std::fread(message.data(), 1, length, file), length);
    EXPECT_EQ(std::string(message.data() + 4, 4), "PLB1");
    ++messages;
  }
  std::fclose(file);
  EXPECT_GE(messages, 10u);
}

TEST(TraceWriter, DamageIsFoundByTheChecksum) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path());
  add_noise(trace, 2, 100);
  trace.finish({});
  std::FILE* file = std::fopen(trace.path().c_str(), "r+b");
  std::fseek(file, 700, SEEK_SET);
  std::fputc(0x5a, file);
  std::fclose(file);
  EXPECT_NE(run("zstd -q -t " + trace.path() + " 2>/dev/null"), 0);
}

TEST(TraceWriter, ATraceWithoutItsEndIsReadToItsLastFrame) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path());
  add_noise(trace, 3, 100);
  std::filesystem::resize_file(trace.path(), std::filesystem::file_size(trace.path()) - 10);
  const auto contents = read_trace(trace.path());
  EXPECT_TRUE(contents.torn);
  EXPECT_EQ(contents.events.size(), 200u);
}

struct Kept {
  std::uint64_t head = 0;  // events at the start without a gap
  std::uint64_t tail = 0;  // at the end
};

Kept kept_of(const testing::TraceContents& contents, std::uint64_t events) {
  Kept kept;
  for (const auto& event : contents.events) kept.head += event.time_ns == kept.head + 1;
  for (auto event = contents.events.rbegin(); event != contents.events.rend(); ++event) {
    kept.tail += event->time_ns == events - kept.tail;
  }
  return kept;
}

TEST(TraceEviction, KeepsTheStartTheTailAndAnAccountOfTheRest) {
  constexpr std::uint64_t kCap = 300'000;
  constexpr std::uint64_t kFrames = 500;
  constexpr std::uint64_t kEach = 100;
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path(), {.max_trace_bytes = kCap});
  add_noise(trace, kFrames, kEach);
  trace.finish({.status = 0});
  ASSERT_EQ(trace.error(), "");
  EXPECT_LE(std::filesystem::file_size(trace.path()), kCap + 20'000);
  EXPECT_EQ(run("zstd -q -t " + trace.path()), 0);

  const auto contents = read_trace(trace.path());
  ASSERT_EQ(contents.evicted.size(), 1u);
  const auto& evicted = contents.evicted[0];
  const Kept kept = kept_of(contents, kFrames * kEach);
  EXPECT_EQ(kept.head + kept.tail, contents.events.size());
  EXPECT_GT(kept.head, kEach);
  EXPECT_GT(kept.tail, 5 * kept.head);
  EXPECT_EQ(evicted.events[static_cast<std::size_t>(Kind::kAlloc)], kFrames * kEach - contents.events.size());
  EXPECT_EQ(evicted.frames * kEach, kFrames * kEach - contents.events.size());
  EXPECT_EQ(evicted.first_ns, kept.head + 1);
  EXPECT_EQ(evicted.last_ns, kFrames * kEach - kept.tail);
  EXPECT_GT(evicted.bytes, 1'000u * evicted.frames);
  // No definition is ever evicted.
  EXPECT_EQ(contents.texts.size(), kFrames);
  EXPECT_TRUE(contents.has_exit);
  EXPECT_TRUE(contents.has_seek_table);
  EXPECT_EQ(testing::files_in(scratch.path()).size(), 1u);
}

TEST(TraceEviction, StopsAtNothingWhenOneFrameIsLargerThanTheCap) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path(), {.max_trace_bytes = 1000});
  add_noise(trace, 4, 500);
  trace.finish({});
  ASSERT_EQ(trace.error(), "");
  const auto contents = read_trace(trace.path());
  ASSERT_EQ(contents.events.size(), 500u);
  EXPECT_EQ(contents.events.back().time_ns, 2000u);
  EXPECT_EQ(contents.evicted.at(0).frames, 3u);
}

TEST(TraceEviction, ADirectoryThatIsGoneIsAnError) {
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch / "run", {.max_trace_bytes = 20'000});
  add_noise(trace, 5, 100);
  ASSERT_EQ(trace.error(), "");
  std::filesystem::remove_all(scratch / "run");
  add_noise(trace, 50, 100);
  EXPECT_NE(trace.error().find("cannot shorten the trace"), std::string::npos);
}

}  // namespace
}  // namespace plumbline::recorder
