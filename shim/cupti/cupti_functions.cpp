#include "shim/cupti/cupti_functions.hpp"

#include <dlfcn.h>

namespace plumbline::shim::cupti {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"};

void* loaded_library() noexcept {
  for (const char* name : kNames) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return handle;
  }
  return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct Lookup {
  CuptiFunctions functions{};
  bool complete = false;

  Lookup() noexcept {
    void* const library = loaded_library();
    complete = library != nullptr && find(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks) &&
               find(library, "cuptiActivityEnable", functions.enable) &&
               find(library, "cuptiActivityDisable", functions.disable) &&
               find(library, "cuptiActivityFlushAll", functions.flush_all) &&
               find(library, "cuptiActivityGetNextRecord", functions.next_record) &&
               find(library, "cuptiActivityGetNumDroppedRecords", functions.dropped_records) &&
               find(library, "cuptiActivityPushExternalCorrelationId", functions.push_correlation) &&
               find(library, "cuptiActivityPopExternalCorrelationId", functions.pop_correlation) &&
               find(library, "cuptiActivityRegisterTimestampCallback", functions.register_timestamp) &&
               find(library, "cuptiActivityFlushPeriod", functions.flush_period);
  }
};

}  // namespace

const CuptiFunctions* functions() noexcept {
  static const Lookup lookup;
  return lookup.complete ? &lookup.functions : nullptr;
}

}  // namespace plumbline::shim::cupti
