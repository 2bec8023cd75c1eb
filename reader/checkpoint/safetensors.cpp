#include "reader/checkpoint/safetensors.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "reader/import/json_reader.hpp"
#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

using imports::JsonReader;
using imports::JsonType;
using imports::shown;

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMostHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMostDimensions = 32;
constexpr std::string_view kCut = "it was cut off while it was written or copied; copy or save it again";
constexpr std::string_view kRewrite = "it was written wrongly or damaged; save it again";

std::optional<std::uint64_t> whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::span<const std::byte> file) : path_(path), file_(file) {}

  Result<SafetensorsHeader> read() {
    if (find_text() && read_members()) check_offsets();
    if (!error_.empty()) return Status(Code::kDamaged, path_ + ": " + error_ + ".");
    return std::move(header_);
  }

 private:
  bool fail(const std::string& what, std::string_view remedy) {
    if (error_.empty()) error_ = what + ": " + std::string(remedy);
    return false;
  }

  bool find_text() {
    if (file_.size() < kLengthBytes) {
      return fail("it has only " + std::to_string(file_.size()) + " bytes, and no safetensors header", kCut);
    }
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(file_[i]) << (8 * i);
    if (length > kMostHeader) {
      return fail("its header would be " + std::to_string(length) + " bytes long, more than the format allows",
                  "it is no safetensors file, or its beginning is damaged");
    }
    if (length > file_.size() - kLengthBytes) {
      return fail("its header of " + std::to_string(length) + " bytes does not fit into the file's " +
                      std::to_string(file_.size()),
                  kCut);
    }
    header_.data_offset = kLengthBytes + length;
    text_ = {reinterpret_cast<const char*>(file_.data()) + kLengthBytes, length};
    if (!text_.starts_with('{')) {
      return fail("its header does not begin with a brace", "it is no safetensors file, or its beginning is damaged");
    }
    return true;
  }

  bool read_members() {
    JsonReader json(text_);
    std::unordered_set<std::string> names;
    json.enter_object();
    for (std::string_view key; json.next_key(key);) {
      std::string name(key);
      if (!names.insert(name).second) return fail("its header names " + shown(name) + " twice", kRewrite);
      if (name == "__metadata__") {
        read_metadata(json);
      } else if (!read_entry(json, std::move(name))) {
        break;
      }
    }
    if (error_.empty() && (!json.ok() || json.type() != JsonType::kEnd || json.offset() != text_.size())) {
      return fail("its header is no JSON object (byte " + std::to_string(kLengthBytes + json.offset()) + ")", kRewrite);
    }
    return error_.empty();
  }

  void read_metadata(JsonReader& json) {
    if (!json.enter_object()) return json.skip();
    for (std::string_view key; json.next_key(key);) {
      std::string name(key);
      header_.metadata.emplace_back(std::move(name), json.text());
    }
  }

  bool read_entry(JsonReader& json, std::string name) {
    SafetensorsEntry entry;
    entry.name = std::move(name);
    std::string dtype;
    std::optional<std::vector<std::uint64_t>> shape;
    std::optional<std::vector<std::uint64_t>> offsets;
    if (!json.enter_object()) return fail(shown(entry.name) + " is not described by an object", kRewrite);
    for (std::string_view key; json.next_key(key);) {
      if (key == "dtype") {
        dtype = json.text();
      } else if (key == "shape") {
        shape = read_numbers(json);
      } else if (key == "data_offsets") {
        offsets = read_numbers(json);
      } else {
        json.skip();
      }
    }
    if (!json.ok()) return true;  // read_members tells it
    const auto known = dtype_named(dtype);
    if (!known) return fail(shown(entry.name) + " has the unknown element type \"" + shown(dtype) + "\"", kRewrite);
    if (!shape) return fail(shown(entry.name) + " has no shape, or one that is not whole numbers", kRewrite);
    if (!offsets || offsets->size() != 2) return fail(shown(entry.name) + " has no pair of data_offsets", kRewrite);
    entry.dtype = *known;
    entry.shape = std::move(*shape);
    entry.begin = (*offsets)[0];
    entry.end = (*offsets)[1];
    if (!check_size(entry)) return false;
    header_.tensors.push_back(std::move(entry));
    return true;
  }

  std::optional<std::vector<std::uint64_t>> read_numbers(JsonReader& json) {
    if (!json.enter_array()) {
      json.skip();
      return std::nullopt;
    }
    std::vector<std::uint64_t> numbers;
    bool good = true;
    while (json.next_element()) {
      const auto number = whole(json.number());
      good = good && number.has_value() && numbers.size() < kMostDimensions;
      if (good) numbers.push_back(*number);
    }
    if (!good) return std::nullopt;
    return numbers;
  }

  bool check_size(const SafetensorsEntry& entry) {
    std::uint64_t elements = 0;
    if (!element_count(entry.shape, elements)) {
      return fail(shown(entry.name) + " of shape " + shape_text(entry.shape) + " is larger than any file", kRewrite);
    }
    if (entry.begin > entry.end) return fail(shown(entry.name) + " ends before it begins", kRewrite);
    if (elements * size_of(entry.dtype) != entry.end - entry.begin) {
      return fail(shown(entry.name) + " of shape " + shape_text(entry.shape) + " and type " +
                      std::string(name_of(entry.dtype)) + " has " + std::to_string(entry.end - entry.begin) +
                      " bytes, not " + std::to_string(elements * size_of(entry.dtype)),
                  kRewrite);
    }
    return true;
  }

  void check_offsets() {
    std::stable_sort(header_.tensors.begin(), header_.tensors.end(), [](const auto& a, const auto& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    const std::uint64_t size = file_.size() - header_.data_offset;
    std::uint64_t at = 0;
    for (const SafetensorsEntry& entry : header_.tensors) {
      if (entry.begin < at) {
        fail(shown(entry.name) + " begins at byte " + std::to_string(entry.begin) +
                 " of the data, inside of the tensor before it",
             kRewrite);
        return;
      }
      if (entry.begin > at) {
        fail("bytes " + std::to_string(at) + " to " + std::to_string(entry.begin) + " of the data, before " +
                 shown(entry.name) + ", belong to no tensor",
             kRewrite);
        return;
      }
      at = entry.end;
      if (at > size) {
        fail(shown(entry.name) + " ends at byte " + std::to_string(at) + " of the data, of which there are " +
                 std::to_string(size),
             kCut);
        return;
      }
    }
    if (at != size) fail(std::to_string(size - at) + " bytes after the last tensor belong to none", kRewrite);
  }

  const std::string& path_;
  std::span<const std::byte> file_;
  std::string_view text_;
  SafetensorsHeader header_;
  std::string error_;
};

}  // namespace

bool element_count(std::span<const std::uint64_t> shape, std::uint64_t& count) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 59;  // so that bytes do not overflow either
  count = 1;
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) count = 0;
  for (const std::uint64_t size : shape) {
    if (count != 0 && size > kMost / count) return false;
    count *= size;
  }
  return true;
}

std::string shape_text(std::span<const std::uint64_t> shape) {
  std::string text = "[";
  for (const std::uint64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

Result<SafetensorsHeader> read_safetensors_header(const std::string& path, std::span<const std::byte> file) {
  return HeaderReader(path, file).read();
}

}  // namespace plumbline::reader
