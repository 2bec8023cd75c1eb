#include "shim/core/library_symbol.hpp"

#include <dlfcn.h>

namespace plumbline::shim {
namespace {

const void* base_of(const void* address) noexcept {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool is_own(const void* address) noexcept {
  return base_of(address) == base_of(reinterpret_cast<const void*>(&is_loaded));
}

}  // namespace

bool is_loaded(const char* library) noexcept {
  void* handle = ::dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

void* symbol_in_library(const char* library, const char* symbol) noexcept {
  void* handle = ::dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* found = ::dlsym(handle, symbol);
  if (found != nullptr && !is_own(found)) return found;  // with the handle kept, the library stays
  ::dlclose(handle);
  return nullptr;
}

void* symbol_in_library_of(const void* address, const char* symbol) noexcept {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? symbol_in_library(info.dli_fname, symbol) : nullptr;
}

}  // namespace plumbline::shim
