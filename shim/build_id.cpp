#include "shim/build_id.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace plumbline::shim {
namespace {

constexpr std::size_t kMaxNotes = 1 << 20;

constexpr std::size_t padded(std::size_t size) noexcept { return (size + 3) & ~std::size_t{3}; }

bool read_exactly(int file, void* into, std::size_t size, std::uint64_t offset) noexcept {
  return pread(file, into, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

std::string build_id_of_descriptor(int file) noexcept {
  Elf64_Ehdr header{};
  if (!read_exactly(file, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return {};
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!read_exactly(file, &segment, sizeof segment, header.e_phoff + i * sizeof segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz == 0 || segment.p_filesz > kMaxNotes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!read_exactly(file, notes.data(), notes.size(), segment.p_offset)) continue;
    std::string id = build_id_in_notes(notes.data(), notes.size());
    if (!id.empty()) return id;
  }
  return {};
}

}  // namespace

std::string build_id_in_notes(const void* notes, std::size_t size) noexcept {
  const auto* bytes = static_cast<const unsigned char*>(notes);
  while (size >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, bytes, sizeof note);
    const std::size_t total = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (total > size) return {};
    const unsigned char* name = bytes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      const unsigned char* id = name + padded(note.n_namesz);
      std::string text;
      for (unsigned i = 0; i < note.n_descsz; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        text += kDigits[id[i] >> 4];
        text += kDigits[id[i] & 15];
      }
      return text;
    }
    bytes += total;
    size -= total;
  }
  return {};
}

std::string build_id_of_file(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string id = build_id_of_descriptor(file);
  close(file);
  return id;
}

}  // namespace plumbline::shim
