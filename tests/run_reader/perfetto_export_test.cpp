// The Perfetto export, decoded: what a viewer would find in it.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "checks/testing/fake_rank.hpp"
#include "perfetto_subset.pb.h"
#include "reader/export/perfetto_writer.hpp"
#include "tests/run_reader/scenes.hpp"
#include "tools/run_reader/run_reader.hpp"

namespace plumbline::tests {
namespace {

using checks::testing::FakeRank;
using checks::testing::Op;
using perfetto::TrackEvent;
using reader::testing::TempDir;

struct SeenSlice {
  std::string name;
  std::string category;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<std::uint64_t> flows;
  std::map<std::string, std::string> annotations;
};

// A decoded trace. Decoding checks what every trace must keep: order on each track, an end for each begin, texts that
// are sent before they are referred to.
struct Decoded {
  std::map<std::uint64_t, perfetto::TrackDescriptor> tracks;
  std::map<std::uint64_t, std::vector<SeenSlice>> slices;  // by track
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::int64_t>>> counters;
  std::map<std::uint64_t, std::vector<std::string>> instants;
  std::set<std::uint32_t> clocks;

  explicit Decoded(const std::string& bytes) {
    perfetto::Trace trace;
    EXPECT_TRUE(trace.ParseFromString(bytes));
    for (const perfetto::TracePacket& packet : trace.packet()) {
      EXPECT_EQ(packet.trusted_packet_sequence_id(), 1U);
      EXPECT_EQ(packet.sequence_flags(), &packet == &trace.packet(0) ? 1U : 2U);
      for (const auto& clock : packet.clock_snapshot().clocks()) clocks.insert(clock.clock_id());
      learn(packet.interned_data());
      if (packet.has_track_descriptor()) {
        const auto& track = packet.track_descriptor();
        EXPECT_TRUE(tracks.emplace(track.uuid(), track).second) << "two tracks of one number";
        if (track.has_parent_uuid()) {
          EXPECT_TRUE(tracks.contains(track.parent_uuid()));
        }
      }
      if (packet.has_track_event()) take(packet.timestamp(), packet.track_event());
    }
    for (const auto& [track, open] : open_) EXPECT_TRUE(open.empty()) << "a slice without an end";
  }

  // Slices of the tracks of that name (a thread's, or the track's own), in all processes.
  std::vector<SeenSlice> on(const std::string& track_name) const {
    std::vector<SeenSlice> found;
    for (const auto& [number, track] : tracks) {
      if (track.name() != track_name && track.thread().thread_name() != track_name) continue;
      const auto at = slices.find(number);
      if (at != slices.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    }
    return found;
  }

  std::vector<std::uint64_t> tracks_named(const std::string& name) const {
    std::vector<std::uint64_t> found;
    for (const auto& [number, track] : tracks) {
      if (track.name() == name) found.push_back(number);
    }
    return found;
  }

 private:
  void learn(const perfetto::InternedData& data) {
    for (const auto& entry : data.event_names()) names_[entry.iid()] = entry.name();
    for (const auto& entry : data.event_categories()) categories_[entry.iid()] = entry.name();
    for (const auto& entry : data.debug_annotation_names()) keys_[entry.iid()] = entry.name();
  }

  void take(std::uint64_t time, const TrackEvent& event) {
    const std::uint64_t track = event.track_uuid();
    ASSERT_TRUE(tracks.contains(track));
    EXPECT_GE(time, last_[track]) << "time goes back on a track";
    last_[track] = time;
    switch (event.type()) {
      case TrackEvent::TYPE_SLICE_BEGIN:
        ASSERT_TRUE(names_.contains(event.name_iid()));
        ASSERT_TRUE(categories_.contains(event.category_iids(0)));
        open_[track].push_back(slices[track].size());
        slices[track].push_back({names_[event.name_iid()],
                                 categories_[event.category_iids(0)],
                                 time,
                                 0,
                                 {event.flow_ids().begin(), event.flow_ids().end()},
                                 annotations(event)});
        break;
      case TrackEvent::TYPE_SLICE_END:
        ASSERT_FALSE(open_[track].empty()) << "an end without a begin";
        slices[track][open_[track].back()].end = time;
        open_[track].pop_back();
        break;
      case TrackEvent::TYPE_COUNTER:
        ASSERT_TRUE(tracks[track].has_counter());
        counters[track].emplace_back(time, event.counter_value());
        break;
      case TrackEvent::TYPE_INSTANT:
        instants[track].push_back(names_[event.name_iid()]);
        break;
      default:
        FAIL() << "an event of no type";
    }
  }

  std::map<std::string, std::string> annotations(const TrackEvent& event) {
    std::map<std::string, std::string> all;
    for (const auto& one : event.debug_annotations()) {
      EXPECT_TRUE(keys_.contains(one.name_iid()));
      std::string value = one.string_value();
      if (one.has_int_value()) value = std::to_string(one.int_value());
      if (one.has_double_value()) value = std::to_string(one.double_value());
      all[keys_[one.name_iid()]] = value;
    }
    return all;
  }

  std::map<std::uint64_t, std::string> names_, categories_, keys_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::map<std::uint64_t, std::uint64_t> last_;
};

Decoded exported(const std::string& run, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"export", run, "--perfetto", "-o", "-"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_NE(tools::run_reader(arguments, out, err, false), 2) << err.str();
  return Decoded(out.str());
}

Decoded exported_scene(std::string_view name, const std::vector<std::string>& more = {}) {
  const TempDir directory;
  for (const Scene& scene : scenes()) {
    if (scene.name == name) scene.write(directory.path());
  }
  return exported(directory.path(), more);
}

TEST(PerfettoExportTest, EveryFixedSceneDecodes) {
  for (const Scene& scene : scenes()) {
    SCOPED_TRACE(scene.name);
    EXPECT_FALSE(exported_scene(scene.name).tracks.empty());
  }
}

TEST(PerfettoExportTest, OneProcessARankWithItsThreads) {
  const Decoded trace = exported_scene("healthy");
  std::set<std::string> processes;
  std::set<std::string> threads;
  for (const auto& [number, track] : trace.tracks) {
    if (track.has_process()) processes.insert(track.process().process_name());
    if (track.has_thread()) threads.insert(track.thread().thread_name());
  }
  EXPECT_EQ(processes, (std::set<std::string>{"rank 0, node1", "rank 1, node1"}));
  EXPECT_EQ(threads, (std::set<std::string>{"python"}));
  EXPECT_EQ(trace.clocks, (std::set<std::uint32_t>{1, 6}));
}

TEST(PerfettoExportTest, RangesAndOptimizerStepsAreOnTheirThread) {
  const auto slices = exported_scene("healthy").on("python");
  int ranges = 0;
  int steps = 0;
  for (const SeenSlice& slice : slices) {
    if (slice.name == "DistributedDataParallel.forward") {
      ++ranges;
      EXPECT_EQ(slice.end - slice.begin, 29'000'000U);
    }
    if (slice.name == "AdamW") {
      ++steps;
      EXPECT_EQ(slice.category, "optimizer");
      EXPECT_EQ(slice.annotations.at("lr"), "0.001000");
    }
  }
  EXPECT_EQ(ranges, 6);
  EXPECT_EQ(steps, 6);
}

TEST(PerfettoExportTest, CollectivesAreJoinedAcrossRanksByFlows) {
  const auto slices = exported_scene("healthy").on("collectives of default_pg");
  ASSERT_EQ(slices.size(), 8U);
  std::map<std::uint64_t, std::vector<std::string>> flows;
  for (const SeenSlice& slice : slices) {
    ASSERT_EQ(slice.flows.size(), 1U);
    flows[slice.flows[0]].push_back(slice.name);
  }
  ASSERT_EQ(flows.size(), 4U);
  for (const auto& [flow, names] : flows) {
    ASSERT_EQ(names.size(), 2U);
    EXPECT_EQ(names[0], names[1]);
  }
}

TEST(PerfettoExportTest, ACallThatNeverEndedReachesToTheEndAndHasNoFlow) {
  const auto slices = exported_scene("left_early").on("collectives of default_pg");
  int pending = 0;
  for (const SeenSlice& slice : slices) {
    if (slice.annotations.at("outcome") != "pending") continue;
    ++pending;
    EXPECT_TRUE(slice.flows.empty());
    EXPECT_EQ(slice.end - slice.begin, 30'000'000'000U);
  }
  EXPECT_EQ(pending, 1);
}

// How many marks of that text are on the tracks named "incident", by the name of the process they belong to.
std::map<std::string, int> incidents_with(const Decoded& trace, std::string_view text) {
  std::map<std::string, int> marks;
  for (const std::uint64_t number : trace.tracks_named("incident")) {
    const auto at = trace.instants.find(number);
    if (at == trace.instants.end()) continue;
    const auto& process = trace.tracks.at(trace.tracks.at(number).parent_uuid());
    for (const std::string& instant : at->second)
      if (instant.find(text) != std::string::npos) ++marks[process.process().process_name()];
  }
  return marks;
}

TEST(PerfettoExportTest, TheIncidentIsMarkedAboveAllAndOnTheRankToBlame) {
  const Decoded trace = exported_scene("left_early");
  EXPECT_EQ(incidents_with(trace, "hang: rank 1 never joined all_reduce"),
            (std::map<std::string, int>{{"findings", 1}, {"rank 1, node1", 1}}));
}

TEST(PerfettoExportTest, IncidentsOutsideOfTheWindowAreNotMarked) {
  const Decoded trace = exported_scene("left_early", {"--to", "0.5"});
  EXPECT_TRUE(incidents_with(trace, "hang").empty());
}

TEST(PerfettoExportTest, ACleanRunHasNoIncident) {
  EXPECT_TRUE(exported_scene("healthy").tracks_named("incident").empty());
}

TEST(PerfettoExportTest, CallsUnderWayAtOnceGetLanes) {
  const TempDir directory;
  {
    FakeRank rank(directory.path(), 0, 1);
    const auto world = rank.group("0", "default_pg", "0");
    const auto first = rank.call(10, world, Op::kAllReduce);
    const auto second = rank.call(11, world, Op::kAllReduce);
    rank.end(20, first);
    rank.end(30, second);
    rank.whole_call(40, 41, world, Op::kAllReduce);
    rank.exit(0);
  }
  const Decoded trace = exported(directory.path());
  EXPECT_EQ(trace.tracks_named("collectives of default_pg").size(), 2U);
  EXPECT_EQ(trace.on("collectives of default_pg").size(), 3U);
}

TEST(PerfettoExportTest, RangesThatCrossAreKeptApart) {
  const TempDir directory;
  {
    FakeRank rank(directory.path(), 0, 1);
    rank.step(1, 2);
    const auto a = rank.open_range(10, "a");
    const auto b = rank.open_range(12, "b");
    rank.close_range(14, a, "a");
    rank.close_range(16, b, "b");
    rank.exit(0);
  }
  const Decoded trace = exported(directory.path());
  const auto apart = trace.on("ranges that cross others");
  ASSERT_EQ(apart.size(), 1U);
  EXPECT_EQ(apart[0].name, "b");
  EXPECT_EQ(apart[0].end - apart[0].begin, 4'000'000U);
}

TEST(PerfettoExportTest, MemoryCountersKeepThePeak) {
  const Decoded trace = exported_scene("out_of_memory");
  const auto allocated = trace.tracks_named("allocated, caching_block 0");
  ASSERT_EQ(allocated.size(), 1U);
  const auto& values = trace.counters.at(allocated[0]);
  EXPECT_EQ(values.back().second, std::int64_t{60} << 30);
  const auto resident = trace.tracks_named("resident memory");
  ASSERT_EQ(resident.size(), 1U);
  EXPECT_EQ(trace.counters.at(resident[0]).front().second, std::int64_t{600} << 20);
  const auto failed = trace.tracks_named("failed allocations");
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(trace.instants.at(failed[0]).size(), 1U);
}

TEST(PerfettoExportTest, TheShapeOfTheBatchesIsACounter) {
  const TempDir directory;
  {
    FakeRank rank(directory.path(), 0, 1);
    rank.batch(1, 4, 512);
    rank.batch(11, 4, 1024);
    rank.step(20, 21);
    rank.exit(0);
  }
  const Decoded trace = exported(directory.path());
  const auto lengths = trace.tracks_named("batch: row length");
  ASSERT_EQ(lengths.size(), 1U);
  EXPECT_EQ(trace.counters.at(lengths[0]).front().second, 512);
  EXPECT_EQ(trace.counters.at(lengths[0]).back().second, 1024);
  EXPECT_EQ(trace.tracks_named("batch: rows").size(), 1U);
}

TEST(PerfettoExportTest, LogicalStepsHaveATrackOfTheirOwn) {
  const auto steps = exported_scene("healthy").on("logical steps");
  ASSERT_EQ(steps.size(), 6U);
  EXPECT_EQ(steps[0].name, "step 0");
  EXPECT_EQ(steps[2].name, "step 2");
  EXPECT_EQ(steps[1].begin, steps[0].end + 1);
}

TEST(PerfettoExportTest, TheEndOfAProcessIsMarked) {
  const Decoded trace = exported_scene("mismatch");
  std::multiset<std::string> ends;
  for (const std::uint64_t track : trace.tracks_named("end of process")) ends.insert(trace.instants.at(track).at(0));
  EXPECT_EQ(ends, (std::multiset<std::string>{"exit 1, RuntimeError", "signal 6"}));
}

TEST(PerfettoExportTest, WindowAndRanksNarrowIt) {
  const auto steps = exported_scene("healthy", {"--rank", "1", "--from", "1.12", "--to", "1.18"}).on("python");
  ASSERT_FALSE(steps.empty());
  for (const SeenSlice& slice : steps) {
    if (slice.category == "optimizer") {
      EXPECT_EQ(slice.annotations.at("step"), "1.000000");
    }
  }
  EXPECT_EQ(exported_scene("healthy", {"--rank", "1"}).tracks_named("logical steps").size(), 1U);
}

// Two hosts may use one process number; a viewer would throw the two together.
TEST(PerfettoExportTest, EqualProcessNumbersAreToldApart) {
  const TempDir directory;
  for (const int number : {0, 1}) {
    FakeRank rank(
        directory.path(), number, 2,
        {.host = number == 0 ? "node1" : "node2",
         .pid = 4711,
         .boot_id = number == 0 ? "00000000-0000-0000-0000-000000000001" : "00000000-0000-0000-0000-000000000002"});
    rank.step(1, 2);
    rank.exit(0);
  }
  std::set<std::int32_t> pids;
  for (const auto& [number, track] : exported(directory.path()).tracks) {
    if (track.has_process()) pids.insert(track.process().pid());
  }
  EXPECT_EQ(pids.size(), 2U);
}

TEST(PerfettoExportTest, AFileThatCannotBeWrittenIsSaid) {
  const TempDir directory;
  {
    FakeRank rank(directory.path(), 0, 1);
    rank.step(1, 2);
    rank.exit(0);
  }
  std::ostringstream out;
  std::ostringstream err;
  const std::string target = directory / "no/such/folder/out.pftrace";
  EXPECT_EQ(tools::run_reader({"export", directory.path(), "--perfetto", "-o", target}, out, err, false), 2);
  EXPECT_NE(err.str().find(target), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tests
