#include "tools/plumbline/adapter_build.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "shim/adapter_path.hpp"
#include "shim/adapter_stamp.hpp"
#include "tools/plumbline/compile_command.hpp"
#include "tools/plumbline/file_text.hpp"
#include "tools/plumbline/source_files.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/temporary_directory.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostJobs = 8;

// Serialises builds of one adapter. Where the filesystem has no locks everybody builds, and the last rename wins.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  ~BuildLock() {
    if (file_ >= 0) close(file_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  int file_;
};

bool write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  return static_cast<bool>(file.flush());
}

bool write_sources(const fs::path& root) {
  std::error_code error;
  for (std::size_t i = 0; i < kAdapterSourceCount; ++i) {
    const fs::path path = root / kAdapterSources[i].path;
    fs::create_directories(path.parent_path(), error);
    if (!write_file(path, kAdapterSources[i].text)) return false;
  }
  return write_file(root / kVersionScript, "{ global: plumbline_adapter_init; local: *; };\n");
}

// In every whole adapter.
std::string stamp() { return fmt::format("plumbline-adapter-sources={}", shim::kAdapterStamp); }

AdapterResult failed(std::string why, std::string log = "") {
  AdapterResult result;
  result.why = std::move(why);
  result.log = std::move(log);
  return result;
}

// The first failure of a build, empty when all went well.
AdapterResult compile(const Toolchain& tools, const TorchInstall& torch, const fs::path& root) {
  std::vector<std::vector<std::string>> commands;
  std::vector<std::string> objects;
  for (std::size_t i = 0; i < kAdapterSourceCount; ++i) {
    const std::string source(kAdapterSources[i].path);
    if (!source.ends_with(".cpp")) continue;
    objects.push_back((root / fs::path(source).filename()).string() + ".o");
    commands.push_back(compile_command(tools, torch, root.string(), source, objects.back(), stamp()));
  }
  const unsigned cores = std::max(std::thread::hardware_concurrency(), 1u);
  for (const Finished& finished : run_programs(commands, std::min(cores, kMostJobs))) {
    if (finished.status > 0) {
      return failed(fmt::format("{} could not compile the adapter for torch {}", tools.compiler, torch.version),
                    finished.errors);
    }
  }
  const Finished linked =
      run_program(link_command(tools, torch, root.string(), objects, (root / shim::kAdapterFile).string()));
  if (linked.status != 0) {
    return failed(fmt::format("the adapter for torch {} could not be linked", torch.version), linked.errors);
  }
  return {};
}

// Into place in one step: readers find the old file, the new one or none.
bool publish(const fs::path& built, const fs::path& path) {
  std::error_code error;
  const fs::path beside = path.string() + fmt::format(".{}", getpid());
  if (!fs::copy_file(built, beside, fs::copy_options::overwrite_existing, error)) return false;
  fs::rename(beside, path, error);
  if (error) fs::remove(beside, error);
  return fs::exists(path, error);
}

AdapterResult build(const TorchInstall& torch, const std::string& path) {
  Toolchain tools;
  AdapterResult result;
  if (!find_toolchain(torch, tools, result.why)) return result;
  const TemporaryDirectory workshop("plumbline-adapter");
  if (workshop.path().empty() || !write_sources(workshop.path())) {
    return failed("the temporary directory cannot be written to");
  }
  result = compile(tools, torch, workshop.path());
  if (!result.why.empty()) return result;
  if (!publish(workshop.path() / shim::kAdapterFile, path)) return failed(fmt::format("{} cannot be written", path));
  result.path = path;
  result.built = true;
  return result;
}

}  // namespace

bool adapter_is_ready(const std::string& path) { return file_text(path).find(stamp()) != std::string::npos; }

AdapterResult make_adapter(const TorchInstall& torch, const std::string& cache,
                           const std::function<void(const std::string&)>& announce) {
  const std::string path = shim::adapter_path(cache, torch.build);
  AdapterResult ready;
  ready.path = path;
  if (adapter_is_ready(path)) return ready;
  const fs::path directory = fs::path(path).parent_path();
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return failed(fmt::format("{} cannot be made: {}", directory.string(), error.message()));
  const BuildLock lock(directory / "build.lock");
  if (adapter_is_ready(path)) return ready;
  announce(fmt::format("building the adapter for torch {}, once", torch.version));
  return build(torch, path);
}

}  // namespace plumbline::tools
