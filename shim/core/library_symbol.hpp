// Symbols of libraries that are already loaded, looked up in the library itself and its dependencies: RTLD_DEFAULT and
// its relatives do not see what Python loaded with RTLD_LOCAL, and would find our own interposers first.
#pragma once

namespace plumbline::shim {

bool is_loaded(const char* library) noexcept;

// Null when the library is not loaded, has no such symbol, or leads back to the preload object. A library that had the
// symbol is kept loaded from then on, for callers keep the address.
void* symbol_in_library(const char* library, const char* symbol) noexcept;

// The same in the library that holds the code at `address`.
void* symbol_in_library_of(const void* address, const char* symbol) noexcept;

// The same in the libraries that LD_PRELOAD names after ours, as long as they define the symbol themselves: another
// interposer, which the caller would reach if we were not there.
void* symbol_in_later_preload(const char* symbol) noexcept;

}  // namespace plumbline::shim
