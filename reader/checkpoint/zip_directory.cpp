#include "reader/checkpoint/zip_directory.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kMostComment = 0xffff;
constexpr std::uint32_t kInExtra = 0xffffffff;  // the field is in the zip64 extra field instead

// Fields by position; zero outside of the file.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t size() const { return bytes_.size(); }
  bool holds(std::uint64_t at, std::uint64_t size) const { return at <= bytes_.size() && size <= bytes_.size() - at; }
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t size) const {
    return holds(at, size) ? bytes_.subspan(at, size) : std::span<const std::byte>{};
  }
  std::uint64_t number(std::uint64_t at, std::size_t size) const {
    std::uint64_t value = 0;
    if (!holds(at, size)) return value;
    for (std::size_t i = size; i > 0; --i) value = value << 8 | std::to_integer<std::uint64_t>(bytes_[at + i - 1]);
    return value;
  }
  std::uint32_t word(std::uint64_t at) const { return static_cast<std::uint32_t>(number(at, 4)); }

 private:
  std::span<const std::byte> bytes_;
};

struct Extent {
  std::uint64_t at = 0;
  std::uint64_t members = 0;
};

std::optional<Extent> find_directory(const Bytes& file) {
  if (file.size() < kEndSize) return std::nullopt;
  const std::uint64_t last = file.size() - kEndSize;
  const std::uint64_t first = last > kMostComment ? last - kMostComment : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (file.word(at) != kEnd) continue;
    Extent extent{file.number(at + 16, 4), file.number(at + 10, 2)};
    if (at >= kLocatorSize && file.word(at - kLocatorSize) == kEnd64Locator) {
      const std::uint64_t wide = file.number(at - kLocatorSize + 8, 8);
      if (!file.holds(wide, kEnd64Size) || file.word(wide) != kEnd64) return std::nullopt;
      extent = {file.number(wide + 48, 8), file.number(wide + 32, 8)};
    }
    return extent;
  }
  return std::nullopt;
}

struct Central {
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint64_t local = 0;
};

// Fields that do not fit 32 bits stand in an extra field, in this order.
void widen(const Bytes& file, std::uint64_t extra, std::uint64_t extra_size, Central& central) {
  const std::uint64_t end = extra + extra_size;
  while (extra + 4 <= end) {
    const std::uint64_t id = file.number(extra, 2);
    const std::uint64_t size = file.number(extra + 2, 2);
    std::uint64_t at = extra + 4;
    if (id == 1) {
      for (std::uint64_t* field : {&central.size, &central.packed, &central.local}) {
        if (*field != kInExtra) continue;
        *field = file.number(at, 8);
        at += 8;
      }
      return;
    }
    extra = at + size;
  }
}

}  // namespace

bool starts_as_zip(std::span<const std::byte> file) { return Bytes(file).word(0) == kLocalHeader; }

Result<ZipDirectory> ZipDirectory::read(const std::string& path, std::span<const std::byte> bytes) {
  const Bytes file(bytes);
  const auto damaged = [&](const std::string& what) {
    return Status(Code::kDamaged, path + ": " + what + "; copy or save it again.");
  };
  const auto directory = find_directory(file);
  if (!directory) {
    return damaged(
        "the directory at the end of this zip file is not there: it was cut off while it was written or copied");
  }
  ZipDirectory result;
  std::uint64_t at = directory->at;
  for (std::uint64_t i = 0; i < directory->members; ++i) {
    if (!file.holds(at, kCentralSize) || file.word(at) != kCentralHeader) {
      return damaged("entry " + std::to_string(i) + " of its directory is damaged");
    }
    const std::uint64_t name_size = file.number(at + 28, 2);
    const std::uint64_t extra_size = file.number(at + 30, 2);
    Central central{file.number(at + 20, 4), file.number(at + 24, 4), file.number(at + 42, 4)};
    widen(file, at + kCentralSize + name_size, extra_size, central);
    const auto name = file.part(at + kCentralSize, name_size);
    ZipMember member{{reinterpret_cast<const char*>(name.data()), name.size()}, {}};
    const bool stored = file.number(at + 10, 2) == 0 && central.packed == central.size;
    if (!stored) return damaged(imports::shown(member.name) + " in it is compressed, which torch.save does not do");
    if (file.word(central.local) != kLocalHeader || !file.holds(central.local, kLocalSize)) {
      return damaged(imports::shown(member.name) + " is not where its directory says");
    }
    const std::uint64_t start =
        central.local + kLocalSize + file.number(central.local + 26, 2) + file.number(central.local + 28, 2);
    if (!file.holds(start, central.size)) return damaged(imports::shown(member.name) + " does not fit into it");
    member.bytes = file.part(start, central.size);
    result.members_.push_back(std::move(member));
    at += kCentralSize + name_size + extra_size + file.number(at + 32, 2);
  }
  std::sort(result.members_.begin(), result.members_.end(),
            [](const ZipMember& a, const ZipMember& b) { return a.name < b.name; });
  return result;
}

const ZipMember* ZipDirectory::find(std::string_view name) const {
  if (members_.empty()) return nullptr;
  // All members lie in one folder, named after the file that was saved.
  const std::string_view first = members_.front().name;
  const std::size_t slash = first.find('/');
  const std::string folder(slash == std::string_view::npos ? std::string_view{} : first.substr(0, slash + 1));
  const std::string wanted = folder + std::string(name);
  const auto found = std::lower_bound(members_.begin(), members_.end(), wanted,
                                      [](const ZipMember& one, const std::string& key) { return one.name < key; });
  return found != members_.end() && found->name == wanted ? &*found : nullptr;
}

}  // namespace plumbline::reader
