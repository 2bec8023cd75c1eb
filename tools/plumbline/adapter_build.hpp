// Compiles the torch adapter for one torch and puts it into the cache.
#pragma once

#include <functional>
#include <string>

#include "tools/plumbline/torch_install.hpp"

namespace plumbline::tools {

struct AdapterResult {
  std::string path;    // of the adapter, empty when there is none
  std::string why;     // then: one sentence
  std::string log;     // then: what the compiler said
  bool built = false;  // by this call
};

// True when the cache has the adapter for this torch, made from the sources of this program.
bool adapter_is_ready(const std::string& path);

// Makes sure that the adapter is there. Safe to call from several processes at once: one builds, the others wait, and
// the file appears in one rename. `announce` is told once, before a build that will take a while.
AdapterResult make_adapter(const TorchInstall& torch, const std::string& cache,
                           const std::function<void(const std::string&)>& announce);

}  // namespace plumbline::tools
