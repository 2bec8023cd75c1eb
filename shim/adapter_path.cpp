#include "shim/adapter_path.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <cstdio>

#include "recorder/small_file.hpp"
#include "shim/adapter_stamp.hpp"
#include "shim/build_id.hpp"

namespace plumbline::shim {
namespace {

// The value of `__version__ = '2.11.0+cu130'`, the way torch's build writes it.
std::string version_in(const std::string& source) {
  const std::size_t name = source.find("__version__ =");
  if (name == std::string::npos) return {};
  const std::size_t open = source.find_first_of("'\"\n", name);
  if (open == std::string::npos || source[open] == '\n') return {};
  const std::size_t close = source.find(source[open], open + 1);
  return close == std::string::npos ? std::string{} : source.substr(open + 1, close - open - 1);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string identity_of(const std::string& library) {
  const std::string build_id = build_id_of_file(library.c_str());
  if (build_id.size() >= 16) return build_id.substr(0, 16);
  struct stat status {};
  if (stat(library.c_str(), &status) != 0) return {};
  std::uint64_t hash = 0;
  for (const auto part : {static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_mtime)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
  }
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  return digits;
}

// A version becomes part of a directory's name.
std::string as_file_name(std::string text) {
  for (char& c : text) {
    if (c == '/' || c == '\0') c = '_';
  }
  return text;
}

}  // namespace

TorchBuild torch_build_at(const std::string& libtorch_cpu) {
  const auto source = recorder::read_small_file((directory_of(libtorch_cpu) + "/../version.py").c_str());
  return {source ? version_in(*source) : std::string{}, identity_of(libtorch_cpu)};
}

std::string adapter_path(const std::string& cache, const TorchBuild& torch) {
  return cache + "/adapter-" + as_file_name(torch.version) + "-" + torch.identity + "-" + kAdapterStamp + "/" +
         kAdapterFile;
}

}  // namespace plumbline::shim
