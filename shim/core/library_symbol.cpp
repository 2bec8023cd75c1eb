#include "shim/core/library_symbol.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace plumbline::shim {
namespace {

const void* base_of(const void* address) noexcept {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool is_own(const void* address) noexcept {
  return base_of(address) == base_of(reinterpret_cast<const void*>(&is_loaded));
}

// Where a library of this handle begins; null when the loader does not say.
const void* base_of_handle(void* handle) noexcept {
  link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  return reinterpret_cast<const void*>(map->l_addr);
}

// The next entry of an LD_PRELOAD list, which spaces and colons separate; false at its end.
bool next_entry(const char*& list, char (&entry)[512]) noexcept {
  list += std::strspn(list, " :");
  const std::size_t length = std::strcspn(list, " :");
  if (length == 0) return false;
  const bool fits = length < sizeof entry;
  std::memcpy(entry, list, fits ? length : 0);
  entry[fits ? length : 0] = '\0';
  list += length;
  return true;
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

void* symbol_in_later_preload(const char* symbol) noexcept {
  const char* list = std::getenv("LD_PRELOAD");
  const void* own = base_of(reinterpret_cast<const void*>(&is_loaded));
  bool after_own = false;
  for (char entry[512]; list != nullptr && next_entry(list, entry);) {
    void* handle = ::dlopen(entry, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == nullptr) continue;
    const void* base = base_of_handle(handle);
    void* found = after_own ? ::dlsym(handle, symbol) : nullptr;
    if (found != nullptr && base_of(found) == base) return found;  // with the handle kept, the library stays
    after_own = after_own || base == own;
    ::dlclose(handle);
  }
  return nullptr;
}

}  // namespace plumbline::shim
