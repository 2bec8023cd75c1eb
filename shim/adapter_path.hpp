// Where the torch adapter for one build of torch lies: the preload object looks there, `plumbline build-adapter` puts
// it there.
//
//   const TorchBuild torch = torch_build_at("/venv/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so");
//   const std::string adapter = adapter_path(cache, torch);
//
// An adapter fits exactly one build of torch and one version of this program, so it is filed under torch's version, the
// build's identity and the stamp of the adapter's sources (shim/adapter_sources.cmake).
#pragma once

#include <string>

namespace plumbline::shim {

inline constexpr const char* kAdapterFile = "libplumbline_torch.so";

struct TorchBuild {
  std::string version;   // "2.11.0+cu130"; empty: not found
  std::string identity;  // 16 hexadecimal digits; empty: the library cannot be read
};

// Reads version.py of the package that the library belongs to. The identity is the start of the library's build id, or
// a hash of its size and time of change where the linker wrote none.
TorchBuild torch_build_at(const std::string& libtorch_cpu);

// <cache>/adapter-<version>-<identity>-<stamp>/libplumbline_torch.so
std::string adapter_path(const std::string& cache, const TorchBuild& torch);

}  // namespace plumbline::shim
