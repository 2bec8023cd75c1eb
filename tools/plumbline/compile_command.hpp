// How the adapter is compiled and linked against a torch.
#pragma once

#include <string>
#include <vector>

#include "tools/plumbline/torch_install.hpp"

namespace plumbline::tools {

struct Toolchain {
  std::string compiler;
  std::string standard;  // "-std=c++17"
};

// Beside the sources: what the adapter exports.
inline constexpr const char* kVersionScript = "adapter.map";

// $CXX, else g++, c++ or clang++. False, with the reason, when there is none or torch has no headers.
bool find_toolchain(const TorchInstall& torch, Toolchain& tools, std::string& why);

// `stamp` becomes a text inside the adapter, see adapter_is_ready.
std::vector<std::string> compile_command(const Toolchain& tools, const TorchInstall& torch, const std::string& root,
                                         const std::string& source, const std::string& object,
                                         const std::string& stamp);

// The libraries are those that the job has loaded already, found by name: nothing here says where they lie.
std::vector<std::string> link_command(const Toolchain& tools, const TorchInstall& torch, const std::string& root,
                                      const std::vector<std::string>& objects, const std::string& output);

}  // namespace plumbline::tools
