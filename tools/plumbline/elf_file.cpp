#include "tools/plumbline/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace plumbline::tools {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;  // of one table: a damaged header must not ask for more

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {}

  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t count) {
    if (count > kMostBytes / sizeof(T)) return {};
    std::vector<T> rows(count);
    const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    if (!file_.read(reinterpret_cast<char*>(rows.data()), bytes)) return {};
    return rows;
  }

  // Up to its terminating zero.
  std::string text(std::uint64_t offset) {
    std::string found;
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    std::getline(file_, found, '\0');
    return found.size() < kMostBytes ? found : "";
  }

 private:
  std::ifstream file_;
};

std::uint64_t file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    if (address - segment.p_vaddr < segment.p_filesz) return address - segment.p_vaddr + segment.p_offset;
  }
  return 0;
}

void read_dynamic(Reader& reader, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& dynamic, ElfFile& elf) {
  const auto entries = reader.table<Elf64_Dyn>(dynamic.p_offset, dynamic.p_filesz / sizeof(Elf64_Dyn));
  const auto strings =
      std::find_if(entries.begin(), entries.end(), [](const Elf64_Dyn& entry) { return entry.d_tag == DT_STRTAB; });
  if (strings == entries.end()) return;
  elf.dynamic = true;
  const std::uint64_t texts = file_offset(segments, strings->d_un.d_ptr);
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) elf.needed.push_back(reader.text(texts + entry.d_un.d_val));
  }
}

}  // namespace

std::optional<ElfFile> read_elf(const std::string& path) {
  Reader reader(path);
  const auto headers = reader.table<Elf64_Ehdr>(0, 1);
  if (headers.empty() || std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      headers[0].e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  const auto segments = reader.table<Elf64_Phdr>(headers[0].e_phoff, headers[0].e_phnum);
  ElfFile elf;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_INTERP) elf.interpreter = reader.text(segment.p_offset);
    if (segment.p_type == PT_DYNAMIC) read_dynamic(reader, segments, segment, elf);
  }
  return elf;
}

}  // namespace plumbline::tools
