// Entry of the torch adapter: hooks what needs torch's own headers and Python's interpreter, and hands the preload
// object the functions that read c10d's types.
#include <torch/version.h>

#include <cstddef>
#include <cstring>

#include "shim/torch/batch_shape.hpp"
#include "shim/torch/c10d_describe.hpp"
#include "shim/torch/c10d_group.hpp"
#include "shim/torch/caching_allocator.hpp"
#include "shim/torch/collective_captures.hpp"
#include "shim/torch/device_collectives.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/python_api.hpp"
#include "shim/torch/python_hooks.hpp"
#include "shim/torch/record_function.hpp"

namespace plumbline::shim::adapter {
namespace {

// Which sources this adapter was made from: `plumbline build-adapter` looks for this text in the file.
[[gnu::used]] const char kStamp[] = PLUMBLINE_STAMP;

void hook_ranges() noexcept {
  const char* why = "";
  const bool installed = install_record_function(&why);
  report_hook(kHookRange, installed, why);
  if (!installed) report_hook(kHookStep, false, why);
}

void hook_python() noexcept {
  const char* const missing = python_missing();
  report_hook(kHookPython, false, missing != nullptr ? missing : "torch was not imported to its end");
  install_python_hooks();
}

// "2.11.0+cu130" is what "2.11.0" was built for.
bool fits(const char* torch_version) noexcept {
  const std::size_t length = std::strlen(TORCH_VERSION);
  if (*torch_version == '\0' || std::strncmp(torch_version, TORCH_VERSION, length) == 0) return true;
  host().fact("adapter.built_for", TORCH_VERSION);
  return false;
}

constexpr PlumblineAdapter kAdapter = {kPlumblineAdapterVersion,
                                       sizeof(PlumblineAdapter),
                                       describe_collective,
                                       group_of,
                                       construct_range,
                                       note_embedding,
                                       take_inputs,
                                       collective_begins,
                                       collective_ends,
                                       outputs_follow,
                                       tensor_copied,
                                       expect_device_call,
                                       device_call};

}  // namespace
}  // namespace plumbline::shim::adapter

extern "C" __attribute__((visibility("default"))) const PlumblineAdapter* plumbline_adapter_init(
    const PlumblineHost* host) {
  namespace adapter = plumbline::shim::adapter;
  if (host == nullptr || host->version != kPlumblineAdapterVersion || host->size < sizeof(PlumblineHost)) {
    return nullptr;
  }
  adapter::set_host(host);
  if (!adapter::fits(host->torch_version)) return nullptr;
  adapter::hook_ranges();
  adapter::hook_python();
  adapter::report_hook(plumbline::shim::kHookCachingAllocator, false, "CUDA has not been used");
  adapter::follow_caching_allocator();
  return &adapter::kAdapter;
}
