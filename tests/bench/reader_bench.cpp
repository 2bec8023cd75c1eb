// How fast and how frugal the reader is, on traces that the recorder's own writer makes.
//
//   reader_bench allocations [millions of events]      events a second a core, from disk to a finished summary
//   reader_bench ranks [ranks] [collectives a rank]    summary of a whole run, on all cores
//   reader_bench memory [raw GB]                       resident memory over a long trace
//   reader_bench quick                                 that each of them runs
//
// Each prints numbers, and ratios to zstd's own decompression of the same bytes in the same process.
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "reader/parallel.hpp"
#include "reader/summary.hpp"
#include "recorder/trace_builder.hpp"

namespace {

namespace reader = plumbline::reader;
namespace recorder = plumbline::recorder;
using recorder::Kind;

// Of the calling thread: what a core spends, whoever else the machine works for.
double thread_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))) / (1 << 20);
}

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "plumbline-bench-XXXXXX").string();
    path_ = mkdtemp(name.data()) != nullptr ? name : ".";
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Allocations and frees as a training loop makes them: sizes that repeat, a live set of some thousand, addresses that
// come back.
std::string write_allocations(const std::string& directory, std::uint64_t events) {
  recorder::TraceBuilder trace(directory);
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> live;
  std::vector<std::uint64_t> free_list;
  std::uint64_t time = 1'000'000'000;
  std::uint64_t top = 0x7f1234000000;
  for (std::uint64_t i = 0; i < events; ++i) {
    time += 500 + random() % 3000;
    recorder::AllocRecord record{{time, Kind::kAlloc, 1, 0, recorder::alloc_tag(recorder::Source::kCpu, -1)}, 0, 0};
    if (live.size() < 4000 || (random() & 1) != 0) {
      if (free_list.empty()) free_list.push_back(top += 64 << (random() % 12));
      record.address = free_list.back();
      free_list.pop_back();
      record.size = std::uint64_t{64} << (random() % 12);
      live.push_back(record.address);
    } else {
      const std::size_t victim = random() % live.size();
      record.header.kind = Kind::kFree;
      record.address = live[victim];
      live[victim] = live.back();
      live.pop_back();
      free_list.push_back(record.address);
    }
    trace.add(0, record);
  }
  trace.finish({});
  return trace.path();
}

void write_rank(const std::string& directory, int rank, int ranks, std::uint64_t collectives) {
  recorder::TraceBuilder trace(directory,
                               {.pid = static_cast<std::uint32_t>(1000 + rank), .rank = rank, .world_size = ranks});
  const std::uint64_t world = trace.group("0", "default_pg", "gloo", "", rank, ranks);
  std::mt19937_64 random(static_cast<std::uint64_t>(rank));
  std::uint64_t time = 1'000'000'000;
  for (std::uint64_t i = 0; i < collectives; ++i) {
    recorder::CollectiveRecord call{};
    time += 100'000 + random() % 50'000;
    call.header = {time, Kind::kCollective, recorder::slots_of<recorder::CollectiveRecord>(), 0,
                   recorder::collective_tag(recorder::Op::kAllReduce, recorder::ReduceOp::kSum,
                                            recorder::Dtype::kFloat32, recorder::Layer::kC10d)};
    call.id = i + 1;
    call.group = world;
    call.seq = i;
    call.count_in = call.count_out = std::uint64_t{1} << (10 + i % 12);
    call.peer = -1;
    call.buffer_in = call.buffer_out = 0x7f0000000000 + (i % 12) * 0x100000;
    call.tensors_in = call.tensors_out = 1;
    trace.add(0, call);
    const auto mark = [&](Kind kind, recorder::Outcome outcome) {
      const recorder::CollectiveMarkRecord record{
          {time += 5000 + random() % 4000, kind, recorder::slots_of<recorder::CollectiveMarkRecord>(), 0,
           static_cast<std::uint32_t>(outcome)},
          call.id,
          0};
      trace.add(1, record);
    };
    mark(Kind::kCollectiveStart, recorder::Outcome::kPending);
    mark(Kind::kCollectiveEnd, recorder::Outcome::kCompleted);
  }
  trace.finish({});
}

// Decompresses a whole file, as the least that any reader must do. Gives the number of raw bytes.
std::uint64_t decompress(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> from(ZSTD_DStreamInSize());
  std::vector<char> to(ZSTD_DStreamOutSize());
  ZSTD_DStream* const stream = ZSTD_createDStream();
  std::uint64_t raw = 0;
  while (in.read(from.data(), static_cast<std::streamsize>(from.size())), in.gcount() > 0) {
    ZSTD_inBuffer input{from.data(), static_cast<std::size_t>(in.gcount()), 0};
    while (input.pos < input.size) {
      ZSTD_outBuffer output{to.data(), to.size(), 0};
      if (ZSTD_isError(ZSTD_decompressStream(stream, &output, &input))) break;
      raw += output.pos;
    }
  }
  ZSTD_freeDStream(stream);
  return raw;
}

int allocations(std::uint64_t millions) {
  const TempDir directory;
  const std::uint64_t events = millions * 1'000'000;
  const std::string path = write_allocations(directory.path(), events);
  double best = 1e9;
  double best_zstd = 1e9;
  std::uint64_t live = 0;
  std::uint64_t raw = 0;
  for (int round = 0; round < 3; ++round) {
    best_zstd = std::min(best_zstd, thread_seconds_of([&] { raw = decompress(path); }));
    best = std::min(best, thread_seconds_of([&] {
                      const reader::Result<reader::Run> run = reader::Run::open(path);
                      if (!run.ok()) return;
                      const reader::TraceSummary summary = reader::summarize(run->traces()[0]);
                      live = summary.allocations[0].live;
                    }));
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  std::printf("allocations: %.1f M events, %.2f bytes an event on disk, %.2f raw\n", static_cast<double>(events) / 1e6,
              bytes / static_cast<double>(events), static_cast<double>(raw) / static_cast<double>(events));
  std::printf("allocations: %.1f M events/s/core to a finished summary (%.2f s, %llu live), %.1f times zstd alone\n",
              static_cast<double>(events) / best / 1e6, best, static_cast<unsigned long long>(live), best / best_zstd);
  return 0;
}

int ranks(int count, std::uint64_t collectives) {
  const TempDir directory;
  const double writing = seconds_of([&] {
    reader::parallel_for(static_cast<std::size_t>(count), 0, [&](std::size_t rank) {
      write_rank(directory.path(), static_cast<int>(rank), count, collectives);
    });
  });
  std::uint64_t seen = 0;
  const double cpu_before = cpu_seconds();
  const double reading = seconds_of([&] {
    const reader::Result<reader::Run> run = reader::Run::open(directory.path());
    if (!run.ok()) return;
    for (const reader::TraceSummary& summary : reader::summarize(*run)) seen += summary.collectives;
  });
  const double cpu = cpu_seconds() - cpu_before;
  std::printf("ranks: %d ranks x %llu collectives written in %.1f s\n", count,
              static_cast<unsigned long long>(collectives), writing);
  std::printf("ranks: %llu collectives summarised in %.1f s (%.1f s of CPU), %.0f ns each; %.0f MiB resident\n",
              static_cast<unsigned long long>(seen), reading, cpu, cpu / static_cast<double>(seen) * 1e9,
              resident_mib());
  return 0;
}

int memory(double raw_gb) {
  const TempDir directory;
  constexpr double kRawBytesPerEvent = 8.5;
  const std::string path =
      write_allocations(directory.path(), static_cast<std::uint64_t>(raw_gb * 1e9 / kRawBytesPerEvent));
  const reader::Result<reader::Run> run = reader::Run::open(path);
  if (!run.ok()) return 1;
  const double before = resident_mib();
  double most = before;
  const double time = seconds_of([&] {
    reader::AllocationAnalyzer analyzer;
    run->traces()[0].read({}, [&](const reader::FrameView& frame) {
      analyzer.add(frame);
      most = std::max(most, resident_mib());
      return true;
    });
  });
  std::printf("memory: %.1f GB raw read in %.1f s; at most %.0f MiB resident (%.0f before)\n",
              static_cast<double>(decompress(path)) / 1e9, time, most, before);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "all";
  const auto number = [&](int i, double otherwise) { return argc > i ? std::atof(argv[i]) : otherwise; };
  if (what == "allocations") return allocations(static_cast<std::uint64_t>(number(2, 20)));
  if (what == "ranks") return ranks(static_cast<int>(number(2, 512)), static_cast<std::uint64_t>(number(3, 100'000)));
  if (what == "memory") return memory(number(2, 10));
  if (what == "quick") return allocations(1) | ranks(4, 5'000) | memory(0.01);
  if (what != "all") return 2;
  return allocations(20) | ranks(512, 100'000) | memory(10);
}
