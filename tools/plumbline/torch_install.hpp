// The torch that an interpreter would import, found without importing it.
#pragma once

#include <string>

#include "shim/adapter_path.hpp"

namespace plumbline::tools {

struct TorchInstall {
  std::string python;        // the interpreter that was asked
  std::string directory;     // of the package
  std::string version;       // "2.11.0+cu130"
  std::string cuda;          // version that torch was built for, empty without CUDA
  std::string cuda_headers;  // a directory with cuda_runtime_api.h, empty when none was found
  std::string nccl;          // libnccl.so.2 that libtorch_cuda needs, "static" when it needs none, empty without CUDA
  shim::TorchBuild build;    // which adapter fits
  bool new_abi = true;       // _GLIBCXX_USE_CXX11_ABI

  std::string library(const std::string& name) const { return directory + "/lib/" + name; }
};

// Fills `install`. Else returns false and says in `why` what is missing.
bool find_torch(const std::string& python, TorchInstall& install, std::string& why);

}  // namespace plumbline::tools
