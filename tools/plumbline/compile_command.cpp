#include "tools/plumbline/compile_command.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tools/plumbline/file_text.hpp"
#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

// The standard that torch's headers insist on; C++17 serves also older compilers.
std::string standard_for(const TorchInstall& torch) {
  const std::string header = file_text(torch.directory + "/include/ATen/ATen.h");
  return header.find("__cplusplus < 202002L") == std::string::npos ? "-std=c++17" : "-std=c++20";
}

}  // namespace

bool find_toolchain(const TorchInstall& torch, Toolchain& tools, std::string& why) {
  std::error_code ignored;
  if (!std::filesystem::exists(torch.directory + "/include/ATen/record_function.h", ignored)) {
    why = fmt::format("torch {} in {} has no C++ headers (include/ is missing)", torch.version, torch.directory);
    return false;
  }
  const char* chosen = std::getenv("CXX");
  for (const std::string name : {chosen != nullptr ? chosen : "", "g++", "c++", "clang++"}) {
    tools.compiler = find_program(name);
    if (!tools.compiler.empty()) break;
  }
  tools.standard = standard_for(torch);
  if (tools.compiler.empty()) why = "no C++ compiler is here (g++ or clang++ in PATH, or CXX)";
  return !tools.compiler.empty();
}

std::vector<std::string> compile_command(const Toolchain& tools, const TorchInstall& torch, const std::string& root,
                                         const std::string& source, const std::string& object,
                                         const std::string& stamp) {
  std::vector<std::string> command = {tools.compiler,
                                      tools.standard,
                                      "-O2",
                                      "-fPIC",
                                      "-fvisibility=hidden",
                                      "-DNDEBUG",
                                      "-DUSE_DISTRIBUTED",
                                      fmt::format("-D_GLIBCXX_USE_CXX11_ABI={}", torch.new_abi ? 1 : 0),
                                      fmt::format("-DPLUMBLINE_WITH_CUDA={}", torch.cuda_headers.empty() ? 0 : 1),
                                      fmt::format("-DPLUMBLINE_STAMP=\"{}\"", stamp),
                                      "-I" + root,
                                      "-isystem",
                                      torch.directory + "/include",
                                      "-isystem",
                                      torch.directory + "/include/torch/csrc/api/include"};
  if (!torch.cuda_headers.empty()) command.insert(command.end(), {"-isystem", torch.cuda_headers});
  command.insert(command.end(), {"-c", root + "/" + source, "-o", object});
  return command;
}

std::vector<std::string> link_command(const Toolchain& tools, const TorchInstall& torch, const std::string& root,
                                      const std::vector<std::string>& objects, const std::string& output) {
  std::vector<std::string> command = {tools.compiler, "-shared", "-o", output,
                                      fmt::format("-Wl,--version-script={}/{}", root, kVersionScript)};
  command.insert(command.end(), objects.begin(), objects.end());
  command.insert(command.end(), {"-L" + torch.directory + "/lib", "-ltorch_cpu", "-lc10"});
  if (!torch.cuda_headers.empty()) command.emplace_back("-lc10_cuda");
  command.emplace_back("-ldl");
  return command;
}

}  // namespace plumbline::tools
