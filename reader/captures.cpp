#include "reader/captures.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace plumbline::reader {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirectory = "captures";
constexpr const char* kSuffix = ".plc";

std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return {path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(fs::path(path) / kDirectory, error), end; !error && it != end; it.increment(error)) {
    // A name that was taken got a number behind it.
    const std::string name = it->path().filename().string();
    if (name.find(kSuffix) != std::string::npos && !name.starts_with('.')) files.push_back(it->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Result<RunCaptures> RunCaptures::open(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return Status(Code::kNotFound, path + " does not exist.");
  std::vector<CaptureFile> files;
  std::vector<std::string> complaints;
  for (const std::string& name : files_of(path)) {
    Result<CaptureFile> file = CaptureFile::open(name);
    if (!file.ok()) {
      complaints.push_back(file.status().message());
      continue;
    }
    for (const Damage& damage : file->damage()) complaints.push_back(name + ": " + damage.what);
    files.push_back(std::move(*file));
  }
  RunCaptures run(std::move(files));
  run.complaints_ = std::move(complaints);
  return run;
}

RunCaptures::RunCaptures(std::vector<CaptureFile> files) : files_(std::move(files)) {
  std::stable_sort(files_.begin(), files_.end(), [](const CaptureFile& a, const CaptureFile& b) {
    return std::pair(a.process().attempt, a.process().rank) < std::pair(b.process().attempt, b.process().rank);
  });
  for (std::size_t i = 0; i < files_.size(); ++i) {
    for (Capture& capture : files_[i].captures_) {
      capture.file = i;
      by_place_[{capture.probe, capture.step}].push_back(&capture);
    }
  }
}

bool RunCaptures::empty() const { return by_place_.empty(); }

std::vector<int> RunCaptures::ranks() const {
  std::set<int> ranks;
  for (const CaptureFile& file : files_) {
    if (!file.captures().empty()) ranks.insert(file.process().rank);
  }
  return {ranks.begin(), ranks.end()};
}

std::vector<std::int64_t> RunCaptures::steps() const {
  std::set<std::int64_t> steps;
  for (const auto& [place, captures] : by_place_) {
    if (place.second >= 0) steps.insert(place.second);
  }
  return {steps.begin(), steps.end()};
}

std::vector<std::string> RunCaptures::probes() const {
  std::vector<std::string> probes;
  for (const auto& [place, captures] : by_place_) {
    if (probes.empty() || probes.back() != place.first) probes.push_back(place.first);
  }
  return probes;
}

std::vector<std::string> RunCaptures::names(std::string_view probe) const {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const CaptureFile& file : files_) {
    for (const Capture& capture : file.captures()) {
      if (capture.probe == probe && seen.insert(capture.name).second) names.push_back(capture.name);
    }
  }
  return names;
}

std::vector<const Capture*> RunCaptures::select(std::string_view probe, std::int64_t step, std::string_view name,
                                                int rank) const {
  std::vector<const Capture*> selected;
  const auto place = by_place_.find(std::pair(std::string(probe), step));
  if (place == by_place_.end()) return selected;
  for (const Capture* capture : place->second) {
    if ((name.empty() || capture->name == name) && (rank < 0 || capture->rank == rank)) selected.push_back(capture);
  }
  return selected;
}

const Capture* RunCaptures::find(std::string_view probe, std::int64_t step, std::string_view name, int rank,
                                 std::uint32_t occurrence) const {
  const auto place = by_place_.find(std::pair(std::string(probe), step));
  if (place == by_place_.end()) return nullptr;
  for (const Capture* capture : place->second) {
    if (capture->name == name && capture->rank == rank && capture->occurrence == occurrence) return capture;
  }
  return nullptr;
}

}  // namespace plumbline::reader
