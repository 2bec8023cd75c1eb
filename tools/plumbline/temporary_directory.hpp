// A directory of our own, gone with this object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace plumbline::tools {

class TemporaryDirectory {
 public:
  // In `base`, else in the system's place for such. `path()` is empty when it could not be made.
  explicit TemporaryDirectory(const std::string& name, const std::string& base = "") {
    std::error_code error;
    const std::filesystem::path parent =
        base.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::absolute(base, error);
    if (error) return;
    std::string pattern = (parent / (name + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace plumbline::tools
