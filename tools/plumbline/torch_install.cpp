#include "tools/plumbline/torch_install.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "tools/plumbline/elf_file.hpp"
#include "tools/plumbline/file_text.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;

// find_spec of a package without a dot imports nothing; torch/version.py is a few assignments.
constexpr const char* kQuestion = R"(
import importlib.util, os
spec = importlib.util.find_spec("torch")
if spec and spec.submodule_search_locations:
    where = list(spec.submodule_search_locations)[0]
    names = {}
    with open(os.path.join(where, "version.py")) as file:
        exec(file.read(), names)
    print("plumbline-torch", where, names.get("__version__", ""), names.get("cuda") or "", sep="\n")
)";

bool file_contains(const std::string& path, std::string_view text) {
  return file_text(path).find(text) != std::string::npos;
}

// A library compiled with the old std::string has this function under another name.
bool uses_new_abi(const TorchInstall& install) {
  return !file_contains(install.library("libc10.so"), "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs");
}

std::string nccl_linkage(const TorchInstall& install) {
  const auto library = read_elf(install.library("libtorch_cuda.so"));
  if (!library) return "";
  for (const std::string& needed : library->needed) {
    if (needed.starts_with("libnccl.so")) return needed;
  }
  return "static";
}

std::string find_cuda_headers(const TorchInstall& install) {
  std::vector<fs::path> places;
  std::error_code ignored;
  const fs::path site = fs::path(install.directory).parent_path();
  std::vector<fs::path> wheels;
  for (const auto& package : fs::directory_iterator(site / "nvidia", ignored)) {
    wheels.push_back(package.path() / "include");
  }
  std::sort(wheels.begin(), wheels.end());
  places.insert(places.end(), wheels.begin(), wheels.end());
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    places.push_back(fs::path(value) / "include");
    places.push_back(fs::path(value) / "targets/x86_64-linux/include");
  }
  places.emplace_back("/usr/local/cuda/include");
  for (const auto& place : places) {
    if (fs::exists(place / "cuda_runtime_api.h", ignored)) return place.string();
  }
  return "";
}

}  // namespace

bool find_torch(const std::string& python, TorchInstall& install, std::string& why) {
  if (find_program(python).empty()) {
    why = fmt::format("there is no program {}", python);
    return false;
  }
  const Finished answer = run_program({python, "-c", kQuestion});
  const auto found = answer.output.find("plumbline-torch\n");
  if (answer.status != 0 || found == std::string::npos) {
    why = answer.status == 0
              ? fmt::format("{} has no torch", python)
              : fmt::format("{} could not be asked for its torch (exit status {})", python, answer.status);
    return false;
  }
  std::istringstream lines(answer.output.substr(found));
  std::string mark;
  std::getline(lines, mark);
  std::getline(lines, install.directory);
  std::getline(lines, install.version);
  std::getline(lines, install.cuda);
  install.python = python;
  install.build = shim::torch_build_at(install.library("libtorch_cpu.so"));
  if (install.build.identity.empty()) {
    why = fmt::format("{} cannot be read", install.library("libtorch_cpu.so"));
    return false;
  }
  install.new_abi = uses_new_abi(install);
  if (!install.cuda.empty()) {
    install.nccl = nccl_linkage(install);
    install.cuda_headers = find_cuda_headers(install);
  }
  return true;
}

}  // namespace plumbline::tools
