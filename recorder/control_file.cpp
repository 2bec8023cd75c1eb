#include "recorder/control_file.hpp"

#include <sys/stat.h>

#include "recorder/small_file.hpp"
#include "recorder/toml.hpp"

namespace plumbline::recorder {

std::optional<Level> ControlFile::poll(std::string& complaint) {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_mtim.tv_sec == seen_seconds_ && status.st_mtim.tv_nsec == seen_nanoseconds_ &&
      status.st_size == seen_size_) {
    return std::nullopt;
  }
  seen_seconds_ = status.st_mtim.tv_sec;
  seen_nanoseconds_ = status.st_mtim.tv_nsec;
  seen_size_ = status.st_size;
  const auto text = read_small_file(path_.c_str());
  if (!text || text->empty()) return std::nullopt;

  std::optional<Level> level;
  std::string error;
  for (const auto& [key, value] : parse_toml_pairs(*text, error)) {
    if (key == "level") {
      level = parse_level(value);
      if (!level) complaint = path_ + ": level takes off, watch or diagnose, not " + value;
    } else {
      complaint = path_ + ": " + key + " is not understood; only level is";
    }
  }
  if (!error.empty()) complaint = path_ + ": " + error;
  return level;
}

}  // namespace plumbline::recorder
