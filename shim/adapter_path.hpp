// Where the torch adapter of a given torch lies in the cache: the preload object looks there, `plumbline build-adapter`
// puts it there.
//
//   <cache>/adapter-<16 hex digits>-v<interface version>/libplumbline_torch.so
//
// The digits identify the build of libtorch_cpu.so, because the adapter is right for exactly one: the start of its
// GNU build id, or a hash of its size and time of change where the linker wrote none.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>

#include "shim/adapter_api.hpp"

namespace plumbline::shim {

namespace detail {

// The first eight bytes of the build id among the notes of [offset, offset + size), 0 without one.
inline std::uint64_t build_id_in_notes(int file, std::uint64_t offset, std::uint64_t size) noexcept {
  constexpr auto padded = [](std::uint64_t bytes) { return (bytes + 3) / 4 * 4; };
  const std::uint64_t end = offset + size;
  while (offset + sizeof(Elf64_Nhdr) <= end) {
    Elf64_Nhdr note;
    if (pread(file, &note, sizeof note, static_cast<off_t>(offset)) != sizeof note) return 0;
    const std::uint64_t name = offset + sizeof note;
    const std::uint64_t value = name + padded(note.n_namesz);
    char owner[4] = {};
    unsigned char id[8] = {};
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof owner && note.n_descsz >= sizeof id &&
        pread(file, owner, sizeof owner, static_cast<off_t>(name)) == sizeof owner &&
        std::memcmp(owner, "GNU", sizeof owner) == 0 &&
        pread(file, id, sizeof id, static_cast<off_t>(value)) == sizeof id) {
      std::uint64_t digits = 0;
      for (const unsigned char byte : id) digits = digits << 8 | byte;
      return digits;
    }
    offset = value + padded(note.n_descsz);
  }
  return 0;
}

inline std::uint64_t build_id(int file) noexcept {
  Elf64_Ehdr elf;
  if (pread(file, &elf, sizeof elf, 0) != sizeof elf || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (unsigned i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment;
    const auto at = static_cast<off_t>(elf.e_phoff + i * sizeof segment);
    if (pread(file, &segment, sizeof segment, at) != sizeof segment) return 0;
    if (segment.p_type != PT_NOTE) continue;
    if (const auto id = build_id_in_notes(file, segment.p_offset, segment.p_filesz)) return id;
  }
  return 0;
}

}  // namespace detail

// Identity of a shared library's build, 0 when the file cannot be read.
inline std::uint64_t library_identity(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::uint64_t identity = detail::build_id(file);
  struct stat status {};
  if (identity == 0 && fstat(file, &status) == 0) {
    for (const auto part : {static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_mtime)}) {
      identity = (identity ^ part) * 0x9e3779b97f4a7c15u;
    }
  }
  close(file);
  return identity;
}

inline constexpr const char* kAdapterFile = "libplumbline_torch.so";

// Path of the adapter for the torch whose libtorch_cpu.so has this identity.
inline std::string adapter_path(std::string_view cache, std::uint64_t identity) {
  char name[64];
  std::snprintf(name, sizeof name, "/adapter-%016llx-v%u/", static_cast<unsigned long long>(identity),
                kPlumblineAdapterVersion);
  return std::string(cache) + name + kAdapterFile;
}

}  // namespace plumbline::shim
