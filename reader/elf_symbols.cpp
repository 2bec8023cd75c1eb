#include "reader/elf_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "reader/file.hpp"

namespace plumbline::reader {
namespace {

// More than any library has; what asks for more is damaged.
constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 30;
constexpr std::size_t kMostHeaders = 4096;

template <class T>
bool read_value(const File& file, std::uint64_t offset, T& value) {
  return file.read_at(offset, &value, sizeof value) == sizeof value;
}

template <class T>
std::vector<T> read_table(const File& file, std::uint64_t offset, std::uint64_t count) {
  if (count > kMostTableBytes / sizeof(T) || offset > file.size() || count * sizeof(T) > file.size() - offset)
    return {};
  std::vector<T> table(count);
  if (file.read_at(offset, table.data(), count * sizeof(T)) != count * sizeof(T)) return {};
  return table;
}

std::string build_id_in(const std::vector<char>& notes) {
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data() + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t id = name + padded(note.n_namesz);
    if (note.n_namesz > notes.size() || note.n_descsz > notes.size() || id + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(notes[id + i]);
        digits += {kDigits[byte >> 4], kDigits[byte & 15]};
      }
      return digits;
    }
    at = id + padded(note.n_descsz);
  }
  return {};
}

// The full table where the file has one, else that of the dynamic linker.
const Elf64_Shdr* best_table(const std::vector<Elf64_Shdr>& sections) {
  const Elf64_Shdr* best = nullptr;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_SYMTAB) return &section;
    if (section.sh_type == SHT_DYNSYM) best = &section;
  }
  return best;
}

}  // namespace

Result<ElfSymbols> ElfSymbols::open(const std::string& path) {
  const Result<File> opened = File::open(path);
  if (!opened.ok()) return opened.status();
  const File& file = *opened;
  Elf64_Ehdr head;
  if (!read_value(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB)
    return Status(Code::kForeign, path + " is not a 64-bit ELF file");
  ElfSymbols result;
  if (head.e_phnum <= kMostHeaders) {
    for (const Elf64_Phdr& segment : read_table<Elf64_Phdr>(file, head.e_phoff, head.e_phnum)) {
      if (segment.p_type == PT_LOAD) result.segments_.push_back({segment.p_offset, segment.p_filesz, segment.p_vaddr});
      if (segment.p_type == PT_NOTE && result.build_id_.empty())
        result.build_id_ = build_id_in(read_table<char>(file, segment.p_offset, segment.p_filesz));
    }
  }
  const auto sections = read_table<Elf64_Shdr>(file, head.e_shoff, head.e_shnum);
  const Elf64_Shdr* const table = best_table(sections);
  if (table == nullptr || table->sh_link >= sections.size()) return result;
  const Elf64_Shdr& strings = sections[table->sh_link];
  const auto names = read_table<char>(file, strings.sh_offset, strings.sh_size);
  result.names_.assign(names.begin(), names.end());
  for (const Elf64_Sym& symbol : read_table<Elf64_Sym>(file, table->sh_offset, table->sh_size / sizeof(Elf64_Sym))) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.size())
      result.symbols_.push_back({symbol.st_value, symbol.st_size, symbol.st_name});
  }
  std::stable_sort(result.symbols_.begin(), result.symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  return result;
}

std::string_view ElfSymbols::function_at(std::uint64_t file_offset) const {
  const auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& one) {
    return file_offset >= one.file_offset && file_offset - one.file_offset < one.bytes;
  });
  if (segment == segments_.end()) return {};
  const std::uint64_t address = file_offset - segment->file_offset + segment->address;
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  // Several names may lie at one address; of those that end before it, the nearest does not count.
  constexpr int kMostBack = 8;
  for (int i = 0; i < kMostBack && after != symbols_.begin(); ++i) {
    const Symbol& symbol = *--after;
    if (address - symbol.address < std::max<std::uint64_t>(symbol.size, 1)) return names_.c_str() + symbol.name;
  }
  return {};
}

std::string demangled(std::string_view name) {
  const std::string text(name);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  return status == 0 && plain ? std::string(plain.get()) : text;
}

}  // namespace plumbline::reader
