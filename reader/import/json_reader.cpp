#include "reader/import/json_reader.hpp"

#include <algorithm>
#include <cstring>

#include "reader/import/bracket_scan.hpp"

namespace plumbline::reader::imports {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;
// A single value that has to be in memory as a whole.
constexpr std::size_t kMostWindow = std::size_t{256} << 20;
constexpr std::size_t kUnpinned = ~std::size_t{0};

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Not only what JSON allows: profilers write NaN and Infinity too.
bool is_number_byte(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code >> 6));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else if (code < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code >> 12));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  } else {
    out.push_back(static_cast<char>(0xf0 | code >> 18));
    out.push_back(static_cast<char>(0x80 | (code >> 12 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code & 0x3f)));
  }
}

// Four hexadecimal digits; 0xfffd, the sign for what is no character, when they are not there.
std::uint32_t hex4(std::string_view text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  if (text.size() < 4) return kReplacement;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return kReplacement;
    value = value << 4 | static_cast<std::uint32_t>(digit);
  }
  return value;
}

}  // namespace

JsonReader::JsonReader(ByteSource& source) : source_(&source), window_(kWindow), data_(window_.data()) {}

Status JsonReader::status() const {
  if (ok()) return {};
  if (source_ != nullptr && !source_->status().ok()) return source_->status();
  return {Code::kDamaged, (source_ != nullptr ? source_->path() + ", byte " : "byte ") + std::to_string(offset()) +
                              ": " + error_ + "."};
}

void JsonReader::fail(std::string what) {
  if (error_.empty()) error_ = std::move(what);
}

bool JsonReader::refill() {
  if (source_ == nullptr || !ok()) return false;
  const std::size_t keep = std::min(pin_, at_);
  std::memmove(window_.data(), window_.data() + keep, end_ - keep);
  base_ += keep;
  at_ -= keep;
  end_ -= keep;
  if (pin_ != kUnpinned) pin_ -= keep;
  if (end_ == window_.size()) {
    if (window_.size() >= kMostWindow) {
      fail("a single value is larger than 256 MiB");
      return false;
    }
    window_.resize(window_.size() * 2);
  }
  data_ = window_.data();
  const std::size_t n = source_->read({reinterpret_cast<std::uint8_t*>(window_.data()) + end_, window_.size() - end_});
  end_ += n;
  return n != 0;
}

bool JsonReader::skip_space() {
  for (;;) {
    while (at_ < end_ && is_space(data_[at_])) ++at_;
    if (at_ < end_) return ok();
    if (!refill()) return false;
  }
}

JsonType JsonReader::type() {
  if (!ok() || !skip_space()) return JsonType::kEnd;
  switch (data_[at_]) {
    case '{':
      return JsonType::kObject;
    case '[':
      return JsonType::kArray;
    case '"':
      return JsonType::kText;
    case 't':
      return JsonType::kTrue;
    case 'f':
      return JsonType::kFalse;
    case 'n':
      return JsonType::kNull;
    default:
      return is_number_byte(data_[at_]) ? JsonType::kNumber : JsonType::kEnd;
  }
}

bool JsonReader::take(char wanted) {
  if (!ok() || !skip_space() || data_[at_] != wanted) return false;
  ++at_;
  return true;
}

bool JsonReader::enter_object() { return take('{'); }
bool JsonReader::enter_array() { return take('['); }

// Is there another member before the closing bracket? The bracket is taken.
bool JsonReader::next_member(char close) {
  if (!ok()) return false;
  if (!skip_space()) {
    fail("the file ends here, in the middle of its data: it was cut off, or is still being written");
    return false;
  }
  if (data_[at_] == ',') {
    ++at_;
    if (!skip_space()) {
      fail("the file ends here, in the middle of its data: it was cut off, or is still being written");
      return false;
    }
  }
  if (data_[at_] != close) return true;
  ++at_;
  return false;
}

bool JsonReader::next_key(std::string_view& key) {
  if (!next_member('}')) return false;
  if (data_[at_] != '"') {
    fail("a key was expected here");
    return false;
  }
  const std::string_view name = unescaped(string_token());
  // What follows may move the window: short keys, which is all that anybody compares, are kept aside.
  if (name.data() != scratch_.data()) scratch_.assign(name);
  if (!take(':')) {
    if (ok()) fail("a colon was expected here");
    return false;
  }
  key = scratch_;
  return true;
}

bool JsonReader::next_element() { return next_member(']'); }

// The bytes between the quotes, as they are written.
std::string_view JsonReader::string_token() {
  pin_ = at_ + 1;
  std::size_t from = at_ + 1;  // in the window; moves with it
  for (;;) {
    const std::size_t stop = from + plain_prefix({data_ + from, end_ - from});
    if (stop < end_ && data_[stop] == '"') {
      at_ = stop + 1;
      const std::string_view token(data_ + pin_, stop - pin_);
      pin_ = kUnpinned;
      return token;
    }
    if (stop + 1 < end_) {
      from = stop + 2;  // a backslash, and what it protects
      continue;
    }
    const std::size_t before = base_;
    if (!refill()) {
      pin_ = kUnpinned;
      fail("the file ends here, in the middle of a text: it was cut off, or is still being written");
      return {};
    }
    from = stop - (base_ - before);
  }
}

std::string_view JsonReader::unescaped(std::string_view raw) {
  std::size_t at = raw.find('\\');
  if (at == std::string_view::npos) return raw;
  std::string out;
  for (std::size_t from = 0;;) {
    out.append(raw.substr(from, at - from));
    if (at == std::string_view::npos) break;
    const char c = at + 1 < raw.size() ? raw[at + 1] : '\\';
    from = at + 2;
    constexpr std::string_view kNames = "nrtbf";
    constexpr std::string_view kBytes = "\n\r\t\b\f";
    if (c == 'u') {
      std::uint32_t code = hex4(raw.substr(std::min(from, raw.size())));
      from += 4;
      const bool pair = code >= 0xd800 && code < 0xdc00 && raw.substr(std::min(from, raw.size())).starts_with("\\u");
      if (pair) {
        const std::uint32_t low = hex4(raw.substr(from + 2));
        code = 0x10000 + ((code - 0xd800) << 10) + ((low - 0xdc00) & 0x3ff);
        from += 6;
      }
      append_utf8(out, code);
    } else if (const std::size_t name = kNames.find(c); name != std::string_view::npos) {
      out.push_back(kBytes[name]);
    } else {
      out.push_back(c);
    }
    from = std::min(from, raw.size());
    at = raw.find('\\', from);
  }
  scratch_ = std::move(out);
  return scratch_;
}

std::string_view JsonReader::text() {
  if (type() != JsonType::kText) {
    skip();
    return {};
  }
  return unescaped(string_token());
}

std::string_view JsonReader::number() {
  if (type() != JsonType::kNumber) {
    skip();
    return {};
  }
  return raw();
}

std::string_view JsonReader::raw() {
  const JsonType what = type();
  if (what == JsonType::kEnd) {
    if (ok()) fail(at_ < end_ ? "a value was expected here" : "the file ends here, in the middle of its data");
    return {};
  }
  if (what == JsonType::kText) {
    const std::string_view token = string_token();
    return ok() ? std::string_view(token.data() - 1, token.size() + 2) : token;
  }
  pin_ = at_;
  if (what == JsonType::kObject || what == JsonType::kArray) {
    ++at_;
    finish_brackets(1);
  } else {
    do {
      while (at_ < end_ && is_number_byte(data_[at_])) ++at_;
    } while (at_ == end_ && refill());
  }
  const std::string_view value(data_ + pin_, at_ - pin_);
  pin_ = kUnpinned;
  return value;
}

void JsonReader::skip() {
  const JsonType what = type();
  if (what == JsonType::kObject || what == JsonType::kArray) {
    ++at_;
    finish_brackets(1);
  } else {
    raw();
  }
}

void JsonReader::leave() {
  if (ok()) finish_brackets(1);
}

void JsonReader::finish_brackets(std::uint64_t depth) {
  BracketScan scan(depth);
  for (;;) {
    const std::size_t n = scan.find_end({data_ + at_, end_ - at_});
    if (n != std::string_view::npos) {
      at_ += n;
      return;
    }
    at_ = end_;
    if (!refill())
      return fail("the file ends here, in the middle of its data: it was cut off, or is still being written");
  }
}

}  // namespace plumbline::reader::imports
