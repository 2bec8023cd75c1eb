// The doctor's look at a machine.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cstdint>
#include <filesystem>

#include "recorder/settings.hpp"
#include "tools/plumbline/adapter_build.hpp"
#include "tools/plumbline/compile_command.hpp"
#include "tools/plumbline/doctor.hpp"
#include "tools/plumbline/elf_file.hpp"
#include "tools/plumbline/interpreter.hpp"
#include "tools/plumbline/launch.hpp"
#include "tools/plumbline/preload_block.hpp"
#include "tools/plumbline/recording_place.hpp"
#include "tools/plumbline/subprocess.hpp"
#include "tools/plumbline/torch_install.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

void examine_preload_object(Findings& findings) {
  const std::string object = find_preload_object();
  if (object.empty()) return findings.problem("preload object", "libplumbline.so is not beside this program");
  const Finished maps = run_program({"env", "LD_PRELOAD=" + object, "cat", "/proc/self/maps"});
  if (maps.output.find(object) != std::string::npos) {
    findings.fine("preload object", object);
  } else {
    findings.problem("preload object", fmt::format("{} is not taken by the loader: {}", object, maps.errors));
  }
}

void examine_settings(const recorder::Settings& settings, Findings& findings) {
  for (const auto& complaint : settings.complaints) findings.problem("settings", complaint);
  if (settings.disabled) findings.problem("settings", "PLUMBLINE_DISABLE is set: nothing is recorded");
  if (settings.level == recorder::Level::kOff) findings.problem("settings", "the level is off: nothing is recorded");
  if (!settings.exclude.empty()) {
    findings.note("settings", fmt::format("programs named {} are left alone", settings.exclude));
  }
}

void examine_interpreter(const std::string& python, Findings& findings) {
  if (const std::string block = preload_block(python); !block.empty()) {
    findings.problem("python", block);
  } else {
    findings.fine("python", python);
  }
}

void examine_adapter(const TorchInstall& torch, const recorder::Settings& settings, Findings& findings) {
  const std::string path = shim::adapter_path(settings.cache, torch.build);
  Toolchain tools;
  std::string why;
  if (adapter_is_ready(path)) {
    findings.fine("adapter", path);
  } else if (find_toolchain(torch, tools, why)) {
    findings.note("adapter", fmt::format("not built yet; plumbline run or build-adapter builds it with {}; {}",
                                         tools.compiler, kWithoutAdapter));
  } else {
    findings.problem("adapter", fmt::format("not built, and cannot be built: {}; {}", why, kWithoutAdapter));
  }
}

void examine_torch(const TorchInstall& torch, Findings& findings) {
  findings.fine("torch", fmt::format("{} in {}, {} C++ ABI", torch.version, torch.directory,
                                     torch.new_abi ? "new" : "old (pre-C++11)"));
  if (torch.cuda.empty())
    return findings.note("cuda", "this torch has no CUDA: only host memory and gloo are recorded");
  if (torch.nccl == "static") {
    findings.problem("nccl", "linked into libtorch_cuda.so statically: its calls cannot be seen");
  } else if (!torch.nccl.empty()) {
    findings.fine("nccl", torch.nccl + ", loaded dynamically");
  }
  if (torch.cuda_headers.empty()) {
    findings.problem("cuda", "cuda_runtime_api.h was not found: the caching allocator's blocks are not recorded");
  } else {
    findings.fine("cuda", fmt::format("{}, headers in {}", torch.cuda, torch.cuda_headers));
  }
}

void examine_directory(const recorder::Settings& settings, Findings& findings) {
  const std::string wanted = settings.run_directory.empty() ? settings.base_directory : settings.run_directory;
  const fs::path place = absolute_path(wanted.empty() ? "." : wanted).lexically_normal();
  if (const std::string block = recording_block(place, settings.memory_bytes); !block.empty()) {
    return findings.problem("run directory", fmt::format("{} {}", place.string(), block));
  }
  const fs::path directory = existing_parent(place);
  struct statvfs disk {};
  if (statvfs(directory.c_str(), &disk) != 0) return;
  const std::uint64_t free_bytes = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  const std::uint64_t per_rank = settings.memory_bytes + settings.max_trace_bytes;
  const std::string sentence =
      fmt::format("{} has {} MiB free; a rank takes {} MiB of ring and at most {} MiB of trace", directory.string(),
                  free_bytes >> 20, settings.memory_bytes >> 20, settings.max_trace_bytes >> 20);
  if (free_bytes < settings.memory_bytes) {
    findings.problem("disk", sentence);
  } else if (free_bytes < per_rank) {
    findings.note("disk", sentence);
  } else {
    findings.fine("disk", sentence);
  }
}

}  // namespace

Findings examine_machine(const std::string& wanted_python) {
  Findings findings;
  const recorder::Settings settings = recorder::load_settings();
  examine_preload_object(findings);
  examine_settings(settings, findings);
  examine_directory(settings, findings);
  const std::string python = wanted_python.empty() ? find_interpreter({}) : find_program(wanted_python);
  TorchInstall torch;
  std::string why;
  if (python.empty()) {
    findings.problem("python", wanted_python.empty() ? "none in PATH" : wanted_python + " cannot be run");
  } else if (!find_torch(python, torch, why)) {
    examine_interpreter(python, findings);
    findings.problem("torch", why);
  } else {
    examine_interpreter(python, findings);
    examine_torch(torch, findings);
    examine_adapter(torch, settings, findings);
  }
  return findings;
}

}  // namespace plumbline::tools
