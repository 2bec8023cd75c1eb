#include "shim/stacks/module_map.hpp"

#include <elf.h>

#include <algorithm>
#include <charconv>

#include "recorder/small_file.hpp"

namespace plumbline::shim::stacks {
namespace {

constexpr std::size_t kLongestMaps = 32 << 20;

// Takes the word up to the next blank, and the blanks behind it.
std::string_view take_word(std::string_view& line) noexcept {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(line.find_first_not_of(' ', end), line.size()));
  return word;
}

std::uint64_t hexadecimal(std::string_view text) noexcept {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

// The hexadecimal digits of the build id among the notes of a segment.
std::string find_build_id(Address notes, std::size_t bytes) noexcept {
  constexpr std::size_t kMostBytes = 4096, kLongestId = 64;
  std::uint8_t buffer[kMostBytes];
  bytes = read_guarded(notes, buffer, std::min(bytes, kMostBytes));
  const auto padded = [](std::size_t n) { return (n + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= bytes;) {
    Elf64_Nhdr note;
    std::memcpy(&note, buffer + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t id = name + padded(note.n_namesz);
    if (id + note.n_descsz > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kLongestId &&
        std::memcmp(buffer + name, "GNU", 4) == 0) {
      std::string digits;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        constexpr char kDigits[] = "0123456789abcdef";
        digits += {kDigits[buffer[id + i] >> 4], kDigits[buffer[id + i] & 15]};
      }
      return digits;
    }
    at = id + padded(note.n_descsz);
  }
  return {};
}

}  // namespace

void ModuleMap::refresh() noexcept { parse(recorder::read_small_file("/proc/self/maps", kLongestMaps).value_or("")); }

void ModuleMap::parse(std::string_view maps) noexcept {
  modules_.clear();
  image_path_.clear();
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(maps.size(), line.size() + 1));
    parse_line(line);
  }
}

// "7f00-7f10 r-xp 00001000 08:01 1234   /lib/x.so"
void ModuleMap::parse_line(std::string_view line) noexcept {
  const std::string_view range = take_word(line);
  const std::string_view rights = take_word(line);
  const std::uint64_t offset = hexadecimal(take_word(line));
  take_word(line);
  take_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos || line.empty()) return;
  const Address begin = hexadecimal(range.substr(0, dash));
  if (offset == 0) {
    image_ = begin;
    image_path_ = line;
  }
  if (rights.size() < 3 || rights[2] != 'x') return;
  modules_.push_back(
      {begin, hexadecimal(range.substr(dash + 1)), offset, std::string(line), image_path_ == line ? image_ : 0});
}

const MappedModule* ModuleMap::find(Address pc) const noexcept {
  const auto after =
      std::upper_bound(modules_.begin(), modules_.end(), pc,
                       [](Address address, const MappedModule& module) { return address < module.begin; });
  if (after == modules_.begin()) return nullptr;
  const MappedModule& module = *std::prev(after);
  return pc < module.end ? &module : nullptr;
}

ElfFacts read_elf(Address image) noexcept {
  constexpr std::size_t kMostSegments = 64;
  ElfFacts facts;
  Elf64_Ehdr head;
  if (image == 0 || !GuardedMemory::copy(image, &head, sizeof head) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr))
    return facts;
  Elf64_Phdr segments[kMostSegments];
  const std::size_t count = std::min<std::size_t>(head.e_phnum, kMostSegments);
  if (!GuardedMemory::copy(image + head.e_phoff, segments, count * sizeof(Elf64_Phdr))) return facts;
  const auto first = std::find_if(segments, segments + count, [](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && segment.p_offset == 0;
  });
  const Address bias = first != segments + count ? image - first->p_vaddr : image;
  for (std::size_t i = 0; i < count; ++i) {
    const Address at = bias + segments[i].p_vaddr;
    if (segments[i].p_type == PT_GNU_EH_FRAME) facts.frame_header = at;
    if (segments[i].p_type == PT_NOTE && facts.build_id.empty())
      facts.build_id = find_build_id(at, segments[i].p_filesz);
  }
  return facts;
}

recorder::ModuleDetails details_of(const MappedModule& module) noexcept {
  return {module.begin, module.end, module.file_offset, module.path, read_elf(module.image).build_id};
}

}  // namespace plumbline::shim::stacks
