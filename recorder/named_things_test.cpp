#include <gtest/gtest.h>

#include <thread>

#include "recorder/recorder.hpp"
#include "recorder/testing/child.hpp"
#include "recorder/testing/records.hpp"
#include "recorder/testing/trace_contents.hpp"
#include "recorder/text_hash.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;
using testing::TraceContents;

template <class Scenario>
TraceContents record(Scenario&& scenario, std::uint64_t ring_bytes = 4 << 20) {
  const ScratchDirectory scratch;
  const int status = testing::run_in_child([&] {
    Settings settings;
    settings.run_directory = scratch / "run";
    settings.ring_bytes = ring_bytes;
    start(settings);
    promote("step");
    scenario();
    stop(0, 0);
  });
  EXPECT_EQ(status, 0);
  return testing::read_trace(testing::only_file(scratch / "run", ".plt"));
}

TEST(Texts, AreRecordedOnceAProcess) {
  const TraceContents trace = record([] {
    for (int i = 0; i < 100; ++i) text_id("forward");
    std::thread([] { text_id("forward"), text_id("backward"); }).join();
  });
  EXPECT_EQ(trace.text_messages, 2u);
  EXPECT_EQ(trace.texts.at(text_hash("forward")), "forward");
  EXPECT_EQ(trace.texts.at(text_hash("backward")), "backward");
}

TEST(Texts, LongOnesAreCutButKeepTheirId) {
  const std::string text(5000, 'x');
  const TraceContents trace = record([&] { text_id(text); });
  EXPECT_EQ(trace.texts.at(text_hash(text)), text.substr(0, kMaxText));
}

TEST(Texts, AnIdThatWasAskedForTooEarlyIsRecordedLater) {
  const std::uint64_t early = text_id("before the start");
  const TraceContents trace = record([] { text_id("before the start"); });
  EXPECT_EQ(trace.texts.count(early), 1u);
}

TEST(Texts, WhatTheRingCouldNotTakeIsTriedAgain) {
  const TraceContents trace = record(
      [] {
        bool full = false;
        for (int i = 0; i < 10'000 && !full; ++i) full = !push(testing::alloc_record(now_ns(), 1, 1).header);
        text_id("wanted");
        for (int i = 0; i < 1000; ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          text_id("wanted");
        }
      },
      2 << 10);
  EXPECT_EQ(trace.text_messages, 1u);
}

TEST(Facts, KeepLongValues) {
  const std::string value(3000, 'v');
  const TraceContents trace = record([&] {
    fact("command", value);
    fact("equation", "a=b=c");
    fact("empty", "");
    fact("huge", std::string(100'000, 'h'));
  });
  EXPECT_EQ(trace.facts.find("command")->second, value);
  EXPECT_EQ(trace.facts.find("equation")->second, "a=b=c");
  EXPECT_EQ(trace.facts.find("empty")->second, "");
  EXPECT_EQ(trace.facts.find("huge")->second.size(), kMaxFact - 5);
}

TEST(Groups, AreDefinedOnceWithTheirRanks) {
  std::uint64_t id = 0;
  const TraceContents trace = record([&] {
    for (int i = 0; i < 3; ++i) define_group("dp", "data parallel", "gloo", "0,2,4", 1, 3, 0x10);
    define_group("world", "", "nccl", "", 2, 8, 0x20);
  });
  id = group_hash("dp", "0,2,4");
  ASSERT_EQ(trace.groups.size(), 2u);
  EXPECT_EQ(trace.groups[0].id, id);
  EXPECT_EQ(trace.groups[0].name, "dp");
  EXPECT_EQ(trace.groups[0].description, "data parallel");
  EXPECT_EQ(trace.groups[0].backend, "gloo");
  EXPECT_EQ(trace.groups[0].ranks, (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(trace.groups[0].rank, 1);
  EXPECT_EQ(trace.groups[0].size, 3);
  EXPECT_TRUE(trace.groups[1].ranks.empty());
}

TEST(Groups, AListOfRanksThatIsTooLongIsCutAfterARank) {
  std::string ranks;
  for (int i = 0; i < 5000; ++i) ranks += (i == 0 ? "" : ",") + std::to_string(100'000 + i);
  const TraceContents trace = record([&] { define_group("strided", "", "nccl", ranks, 0, 5000, 0); });
  ASSERT_EQ(trace.groups.size(), 1u);
  const auto& kept = trace.groups[0].ranks;
  EXPECT_GT(kept.size(), 500u);
  EXPECT_LT(kept.size(), 5000u);
  for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(kept[i], 100'000 + static_cast<int>(i));
}

TEST(Groups, LongNamesDoNotPushTheRanksOut) {
  const std::string name(2000, 'n');
  const TraceContents trace = record([&] { define_group(name, name, name, "3,4", 0, 2, 0); });
  ASSERT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(trace.groups[0].ranks, (std::vector<int>{3, 4}));
  EXPECT_EQ(trace.groups[0].name, name.substr(0, kMaxText));
}

}  // namespace
}  // namespace plumbline::recorder
