#include "reader/run_files.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "reader/ring_snapshot.hpp"
#include "reader/trace.hpp"

namespace plumbline::reader {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTraceSuffix = ".plt";
constexpr char kIdentifier[] = "PLB1";
constexpr std::size_t kIdentifierOffset = 8;  // behind the size prefix and the root's offset
constexpr std::uint64_t kSecond = 1'000'000'000;
// The ring and the trace take their start times one after the other.
constexpr std::uint64_t kSameStart = 10 * kSecond;

// The first bytes of a zstd file's contents.
std::size_t decompress_start(const File& file, std::span<char> to) {
  std::array<char, 64 << 10> bytes;
  ZSTD_inBuffer in{bytes.data(), file.read_at(0, bytes.data(), bytes.size()), 0};
  ZSTD_outBuffer out{to.data(), to.size(), 0};
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  while (in.pos < in.size && out.pos < out.size)
    if (ZSTD_isError(ZSTD_decompressStream(stream.get(), &out, &in))) return 0;
  return out.pos;
}

struct Ring {
  std::string path;
  RingOwner owner;
};

struct Listing {
  std::vector<std::string> traces;
  std::vector<Ring> rings;
};

bool is_hidden(const std::string& path) { return fs::path(path).filename().string().starts_with('.'); }

Listing list(const fs::path& directory, bool hidden) {
  Listing listing;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    if (!hidden && is_hidden(path)) continue;
    const Result<File> file = File::open(path);
    if (!file.ok()) {
      // Opening it as a trace will say what is wrong with it.
      if (it->path().extension() == kTraceSuffix) listing.traces.push_back(path);
      continue;
    }
    if (RingSnapshot::has_magic(*file)) {
      Result<RingOwner> owner = RingSnapshot::owner_of(*file);
      listing.rings.push_back({path, owner.ok() ? std::move(*owner) : RingOwner{}});
    } else if (looks_like_trace(path)) {
      listing.traces.push_back(path);
    }
  }
  // Hidden ones last: of two that are of one process the first is kept.
  std::sort(listing.traces.begin(), listing.traces.end(), [](const std::string& a, const std::string& b) {
    return std::pair(is_hidden(a), std::string_view(a)) < std::pair(is_hidden(b), std::string_view(b));
  });
  std::sort(listing.rings.begin(), listing.rings.end(), [](const Ring& a, const Ring& b) { return a.path < b.path; });
  return listing;
}

bool belongs(const RingOwner& ring, const ProcessInfo& process) {
  const std::uint64_t a = ring.start_monotonic_ns;
  const std::uint64_t b = process.start_monotonic_ns;
  return ring.pid == process.pid && ring.boot_id == process.boot_id && (a > b ? a - b : b - a) < kSameStart;
}

std::string take(std::vector<Ring>& rings, std::vector<Ring>::iterator it) {
  if (it == rings.end()) return {};
  std::string path = std::move(it->path);
  rings.erase(it);
  return path;
}

// A ring gives the name of its trace. Where files have been renamed since, both name the same process.
std::string take_by_name(const std::string& trace, std::vector<Ring>& rings) {
  const std::string name = fs::path(trace).filename().string();
  return take(rings,
              std::find_if(rings.begin(), rings.end(), [&](const Ring& r) { return r.owner.trace_name == name; }));
}

std::string take_by_process(const std::string& trace, std::vector<Ring>& rings) {
  if (rings.empty()) return {};
  const Result<Trace> opened = Trace::open(trace, {});
  if (!opened.ok()) return {};
  return take(rings, std::find_if(rings.begin(), rings.end(),
                                  [&](const Ring& r) { return belongs(r.owner, opened->process()); }));
}

}  // namespace

bool looks_like_trace(const std::string& path) {
  if (std::string_view(path).ends_with(kTraceSuffix)) return true;
  const Result<File> file = File::open(path);
  if (!file.ok()) return false;
  std::array<char, kIdentifierOffset + sizeof(kIdentifier) - 1> start{};
  return decompress_start(*file, start) == start.size() &&
         std::memcmp(start.data() + kIdentifierOffset, kIdentifier, sizeof(kIdentifier) - 1) == 0;
}

Result<std::vector<TraceFiles>> find_traces(const std::string& path, bool hidden) {
  std::error_code error;
  if (path.empty()) return Status(Code::kNotFound, "The name of the run is empty.");
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return Status(Code::kNotFound, path + " does not exist.");
  if (error) return Status(Code::kUnreadable, path + " cannot be looked at: " + error.message() + ".");

  if (!fs::is_directory(status)) {
    const Result<File> file = File::open(path);
    if (!file.ok()) return file.status();
    if (RingSnapshot::has_magic(*file)) return std::vector<TraceFiles>{{{}, path}};
    if (file->size() != 0 && !looks_like_trace(path))
      return Status(Code::kForeign, path + " is not a Plumbline trace.");
    const fs::path directory = fs::path(path).parent_path();
    std::vector<Ring> rings = list(directory.empty() ? fs::path(".") : directory, true).rings;
    std::string ring = take_by_name(path, rings);
    if (ring.empty()) ring = take_by_process(path, rings);
    return std::vector<TraceFiles>{{path, std::move(ring)}};
  }

  const fs::directory_iterator readable(path, error);
  if (error) return Status(Code::kUnreadable, path + " cannot be read: " + error.message() + ".");
  Listing listing = list(path, hidden);
  std::vector<TraceFiles> found;
  for (const std::string& trace : listing.traces) found.push_back({trace, take_by_name(trace, listing.rings)});
  for (TraceFiles& files : found)
    if (files.ring.empty()) files.ring = take_by_process(files.trace, listing.rings);
  for (const Ring& ring : listing.rings) found.push_back({{}, ring.path});
  return found;
}

std::vector<std::string> runs_below(const std::string& path) {
  std::vector<std::string> runs;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code unreadable;
    if (!it->is_directory(unreadable)) continue;
    for (fs::directory_iterator file(it->path(), unreadable); !unreadable && file != end; file.increment(unreadable)) {
      if (file->path().extension() != kTraceSuffix) continue;
      runs.push_back(it->path().string());
      break;
    }
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

}  // namespace plumbline::reader
