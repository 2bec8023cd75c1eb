#include "shim/python/call_site.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "recorder/recorder.hpp"
#include "shim/python/call_sites.hpp"
#include "shim/python/frames.hpp"
#include "shim/python/interpreter.hpp"

namespace plumbline::shim::python {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local constinit CallSites* thread_sites = nullptr;

void give_back(void* sites) noexcept {
  thread_sites = nullptr;
  static_cast<CallSites*>(sites)->~CallSites();
  std::free(sites);
}

// -1: none is left. Such a thread's places are then kept as long as the process.
int make_key() noexcept {
  pthread_key_t key{};
  return pthread_key_create(&key, give_back) == 0 ? static_cast<int>(key) : -1;
}

CallSites* own_sites() noexcept {
  if (thread_sites != nullptr) [[likely]]
    return thread_sites;
  static const int key = make_key();
  void* const memory = std::calloc(1, sizeof(CallSites));
  if (memory == nullptr) return nullptr;
  thread_sites = new (memory) CallSites;
  if (key >= 0) pthread_setspecific(static_cast<pthread_key_t>(key), memory);
  return thread_sites;
}

// Texts are told to one trace: places that were seen under an earlier one are void.
constinit std::atomic<std::uint32_t> trace_number{0};

std::uint64_t first_sight(const Layout& layout, const Frame& frame) noexcept {
  const auto text = describe(layout, frame);
  if (!text) return 0;
  return recorder::text_id(text->file + ":" + std::to_string(text->line) + " in " + text->function);
}

}  // namespace

std::uint64_t call_site() noexcept {
  const Interpreter* const python = interpreter();
  void* const thread = python != nullptr ? python->this_thread() : nullptr;
  CallSites* const sites = thread != nullptr ? own_sites() : nullptr;
  if (sites == nullptr) return 0;
  sites->use_for(trace_number.load(std::memory_order_relaxed));
  const Layout& layout = python->layout;
  FrameWalk<DirectMemory> walk(layout, thread);
  while (walk.next()) {
    const CodeView code = view_code(layout, walk.frame().code);
    if (is_torchs_own(code.file, python->torch_folder)) continue;
    return sites->find(code, walk.frame(), [&] { return first_sight(layout, walk.frame()); });
  }
  return 0;
}

void forget_call_sites() noexcept { trace_number.fetch_add(1, std::memory_order_relaxed); }

}  // namespace plumbline::shim::python
