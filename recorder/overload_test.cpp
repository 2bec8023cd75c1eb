// More events than the rings can hold, and more threads than there are rings: what is lost is counted exactly.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"

namespace plumbline::recorder {
namespace {

using testing::only_file;
using testing::read_trace;
using testing::run_in_child;
using testing::ScratchDirectory;

struct Load {
  int threads;
  int events;  // of each thread
};

// Pushes and lets every thread check what it was told.
void record_under_load(const Settings& settings, Load load, std::atomic<std::uint64_t>& refused) {
  start(settings);
  promote("collective");
  std::vector<std::thread> threads;
  for (int t = 0; t < load.threads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < load.events; ++i) {
        const auto record =
            testing::alloc_record(now_ns(), static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(t));
        if (!push(record.header)) ++refused;
        hook_fired(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  hook_state(0, "c10::alloc_cpu", true, "");
}

void expect_every_event_accounted_for(const Settings& settings, Load load, bool drops_expected) {
  const int status = run_in_child([&] {
    std::atomic<std::uint64_t> refused{0};
    record_under_load(settings, load, refused);
    fact("refused", std::to_string(refused));
    stop(0, 0);
  });
  ASSERT_EQ(status, 0);
  const auto trace = read_trace(only_file(settings.run_directory, ".plt"));
  std::uint64_t recorded = 0;
  for (const auto& event : trace.events) recorded += event.kind == Kind::kAlloc;
  const std::uint64_t dropped = trace.dropped.at(static_cast<std::size_t>(Kind::kAlloc));
  const auto total = static_cast<std::uint64_t>(load.threads) * static_cast<std::uint64_t>(load.events);
  EXPECT_EQ(recorded + dropped, total);
  ASSERT_EQ(trace.facts.count("refused"), 1u);
  EXPECT_EQ(std::to_string(dropped), trace.facts.find("refused")->second);
  EXPECT_EQ(dropped > 0, drops_expected);
  EXPECT_EQ(trace.hooks.at("c10::alloc_cpu"), total);
}

TEST(Overload, ATinyRingDropsAndCounts) {
  const ScratchDirectory scratch;
  Settings settings;
  settings.run_directory = scratch / "run";
  settings.ring_bytes = 4 << 10;
  settings.memory_bytes = 64 << 10;
  expect_every_event_accounted_for(settings, {2, 100'000}, true);
}

TEST(Overload, MoreThreadsThanRings) {
  const ScratchDirectory scratch;
  Settings settings;
  settings.run_directory = scratch / "run";
  settings.ring_bytes = 1 << 20;
  settings.memory_bytes = 3 << 20;
  expect_every_event_accounted_for(settings, {40, 2'000}, true);
}

TEST(Overload, SixtyFourThreadsAtOnce) {
  const ScratchDirectory scratch;
  Settings settings;
  settings.run_directory = scratch / "run";
  expect_every_event_accounted_for(settings, {64, 3'000}, false);
}

TEST(Overload, RingsOfEndedThreadsAreUsedAgain) {
  const ScratchDirectory scratch;
  Settings settings;
  settings.run_directory = scratch / "run";
  settings.ring_bytes = 64 << 10;
  settings.memory_bytes = 512 << 10;
  settings.flush_ms = 1;
  const int status = run_in_child([&] {
    start(settings);
    promote("step");
    for (int i = 0; i < 300; ++i) {
      std::thread([&] {
        // A ring comes back when the writer has drained it.
        while (!push(testing::alloc_record(now_ns(), static_cast<std::uint64_t>(i), 1).header)) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }).join();
    }
    stop(0, 0);
  });
  ASSERT_EQ(status, 0);
  const auto trace = read_trace(only_file(scratch / "run", ".plt"));
  std::vector<bool> seen(300);
  for (const auto& event : trace.events) {
    if (event.kind == Kind::kAlloc) seen.at(event.a) = true;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 300);
  EXPECT_LT(trace.threads.size(), 32u);
}

TEST(Overload, TextsAreDefinedBeforeTheirUseWhateverThreadIsFirst) {
  const ScratchDirectory scratch;
  Settings settings;
  settings.run_directory = scratch / "run";
  settings.flush_ms = 1;
  const int status = run_in_child([&] {
    start(settings);
    promote("step");
    std::atomic<int> round{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2'000; ++i) {
          round = std::max(round.load(), i);
          const std::uint64_t name = text_id("range " + std::to_string(round));
          push(testing::range_record(Kind::kRangeBegin, now_ns(), name, next_id()).header);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    stop(0, 0);
  });
  ASSERT_EQ(status, 0);
  const auto trace = read_trace(only_file(scratch / "run", ".plt"));
  EXPECT_FALSE(trace.undefined_use);
  EXPECT_GT(trace.texts.size(), 1000u);
}

}  // namespace
}  // namespace plumbline::recorder
