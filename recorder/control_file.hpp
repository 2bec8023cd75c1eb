// The level of a running job is changed by writing `level = "off"`, "watch" or "diagnose" to <run>/control.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "recorder/settings.hpp"

namespace plumbline::recorder {

class ControlFile {
 public:
  explicit ControlFile(const std::string& directory) : path_(directory + "/control") {}

  // The level that the file asks for, once for each change of the file. `complaint` says what was not understood.
  std::optional<Level> poll(std::string& complaint);

 private:
  std::string path_;
  std::int64_t seen_seconds_ = 0;
  std::int64_t seen_nanoseconds_ = 0;
  std::int64_t seen_size_ = -1;
};

}  // namespace plumbline::recorder
