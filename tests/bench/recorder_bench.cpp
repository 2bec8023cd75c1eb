// What recording costs: the hooks' side (push and what surrounds it) and the writer's side (encoding and compressing).
//
// Each hook-side benchmark times blocks of events into a ring that the writer thread empties meanwhile; between blocks
// it waits, untimed, until there is room, so that the price of a recorded event is measured and not that of a dropped
// one.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "recorder/recorder.hpp"
#include "recorder/testing/realistic_streams.hpp"
#include "recorder/trace_builder.hpp"

namespace plumbline::recorder {
namespace {

constexpr int kBlock = 4096;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

std::string scratch_directory() {
  static const std::string directory = [] {
    std::string name = std::filesystem::temp_directory_path() / "plumbline-bench-XXXXXX";
    return mkdtemp(name.data()) != nullptr ? name : std::string();
  }();
  return directory;
}

void start_recorder() {
  Settings settings;
  settings.run_directory = scratch_directory() + "/run";
  settings.ring_bytes = 32 << 20;
  settings.memory_bytes = 256 << 20;
  settings.flush_ms = 1'000;  // about as often as a ring of the usual size fills at 20,000 events a second
  start(settings);
  promote("benchmark");
}

// Times blocks of `one` and reports the median over blocks of the time of one call.
template <class One>
void time_blocks(benchmark::State& state, One&& one) {
  start_recorder();
  std::vector<double> each;
  for (auto _ : state) {
    const std::uint64_t begin = now_ns();
    for (int i = 0; i < kBlock; ++i) one(i);
    const std::uint64_t elapsed = now_ns() - begin;
    state.SetIterationTime(static_cast<double>(elapsed) / kNsPerSecond);
    each.push_back(static_cast<double>(elapsed) / kBlock);
    // A quarter of the ring is a flush; 50 blocks fit between two.
    if (each.size() % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::nth_element(each.begin(), each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2), each.end());
  state.counters["median_ns"] = each[each.size() / 2];
  state.SetLabel("time is of " + std::to_string(kBlock) + " calls");
}

void BM_ClockRead(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(now_ns());
}
BENCHMARK(BM_ClockRead);

void BM_AllocatorEvent(benchmark::State& state) {
  time_blocks(state, [](int i) {
    const AllocRecord record = testing::alloc_record(now_ns(), 0x7f0000000000u + static_cast<unsigned>(i) * 64u, 64);
    benchmark::DoNotOptimize(push(record.header));
  });
}
BENCHMARK(BM_AllocatorEvent)->UseManualTime()->MinTime(0.1);

// The whole of an allocation hook: mark, unmark, count, record.
void BM_AllocatorHook(benchmark::State& state) {
  time_blocks(state, [](int i) {
    const std::uint64_t now = now_ns();
    const AllocRecord record = testing::alloc_record(now, 0x7f0000000000u + static_cast<unsigned>(i) * 64u, 64);
    set_in_flight(Kind::kAllocFailed, record.header.tag, now, record.size);
    clear_in_flight();
    hook_fired(0);
    benchmark::DoNotOptimize(push(record.header));
  });
}
BENCHMARK(BM_AllocatorHook)->UseManualTime()->MinTime(0.1);

// A collective with its group and operation known: the call, its start and its end.
void BM_CollectiveEvents(benchmark::State& state) {
  time_blocks(state, [](int) {
    const CollectiveRecord record = testing::collective_record(now_ns(), next_id(), 1);
    push(record.header);
    push(testing::mark_record(Kind::kCollectiveStart, now_ns(), record.id).header);
    push(testing::mark_record(Kind::kCollectiveEnd, now_ns(), record.id, Outcome::kCompleted).header);
  });
}
BENCHMARK(BM_CollectiveEvents)->UseManualTime()->MinTime(0.1);

void BM_KnownText(benchmark::State& state) {
  start_recorder();
  for (auto _ : state) benchmark::DoNotOptimize(text_id("DistributedDataParallel.forward"));
}
BENCHMARK(BM_KnownText);

// Encoding, compressing and writing: time and bytes of an event.
template <class Stream>
void write_events(benchmark::State& state) {
  constexpr std::size_t kEvents = 65536;
  Stream stream(1);
  std::vector<decltype(stream.next())> records;
  for (std::size_t i = 0; i < kEvents; ++i) records.push_back(stream.next());
  const std::string directory = scratch_directory() + "/built";
  TraceBuilder trace(directory);
  std::size_t events = 0;
  for (auto _ : state) {
    for (const auto& record : records) trace.add(0, record);
    trace.flush();
    events += kEvents;
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(trace.path()));
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["bytes_per_event"] = bytes / static_cast<double>(events);
  std::filesystem::remove_all(directory);
}

void BM_WriteAllocatorEvents(benchmark::State& state) { write_events<testing::AllocatorStream>(state); }
BENCHMARK(BM_WriteAllocatorEvents)->Unit(benchmark::kMillisecond);

void BM_WriteCollectives(benchmark::State& state) { write_events<testing::CollectiveStream>(state); }
BENCHMARK(BM_WriteCollectives)->Unit(benchmark::kMillisecond);

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A job with 20,000 allocator events a second: the share of a core that the writer thread takes.
void BM_WriterAtTwentyThousandEventsASecond(benchmark::State& state) {
  start_recorder();
  testing::AllocatorStream stream(2);
  double process = 0;
  double thread = 0;
  double wall = 0;
  for (auto _ : state) {
    const double process_before = cpu_seconds(RUSAGE_SELF);
    const double thread_before = cpu_seconds(RUSAGE_THREAD);
    const std::uint64_t begin = now_ns();
    for (int tick = 0; tick < 1000; ++tick) {
      for (int i = 0; i < 100; ++i) push(stream.next().header);
      std::this_thread::sleep_until(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(begin)) +
                                    std::chrono::milliseconds(5 * (tick + 1)));
    }
    wall += static_cast<double>(now_ns() - begin) / static_cast<double>(kNsPerSecond);
    process += cpu_seconds(RUSAGE_SELF) - process_before;
    thread += cpu_seconds(RUSAGE_THREAD) - thread_before;
  }
  state.counters["writer_percent_of_core"] = (process - thread) / wall * 100;
}
BENCHMARK(BM_WriterAtTwentyThousandEventsASecond)->Iterations(1)->Unit(benchmark::kSecond)->MeasureProcessCPUTime();

}  // namespace
}  // namespace plumbline::recorder

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  plumbline::recorder::stop(0, 0);
  std::filesystem::remove_all(plumbline::recorder::scratch_directory());
  return 0;
}
