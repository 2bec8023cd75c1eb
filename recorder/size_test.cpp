// What an event costs on disk, everything counted: frames, definitions, index.
#include <gtest/gtest.h>

#include <filesystem>

#include "recorder/testing/child.hpp"
#include "recorder/testing/realistic_streams.hpp"
#include "recorder/trace_builder.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;

double bytes_each(const TraceBuilder& trace, std::size_t events) {
  return static_cast<double>(std::filesystem::file_size(trace.path())) / static_cast<double>(events);
}

TEST(Size, AnAllocatorEventTakesAtMostSixBytes) {
  constexpr std::size_t kEvents = 300'000;
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path());
  testing::AllocatorStream stream(1);
  for (std::size_t i = 0; i < kEvents; ++i) trace.add(0, stream.next());
  trace.finish({});
  ASSERT_EQ(trace.error(), "");
  EXPECT_LE(bytes_each(trace, kEvents), 6.0);
  RecordProperty("bytes_per_event", std::to_string(bytes_each(trace, kEvents)));
}

// Frames as small as those of a job with a hundred collectives between two flushes.
TEST(Size, ACollectiveTakesAtMostFifteenBytes) {
  constexpr std::size_t kEvents = 20'000;
  const ScratchDirectory scratch;
  TraceBuilder trace(scratch.path(), {.frame_records = 100});
  testing::CollectiveStream stream(1);
  for (std::size_t i = 0; i < kEvents; ++i) trace.add(0, stream.next());
  trace.finish({});
  ASSERT_EQ(trace.error(), "");
  EXPECT_LE(bytes_each(trace, kEvents), 15.0);
  RecordProperty("bytes_per_collective", std::to_string(bytes_each(trace, kEvents)));
}

}  // namespace
}  // namespace plumbline::recorder
