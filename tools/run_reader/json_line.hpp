// One JSON object on one line, built field by field: `dump` writes millions of them, for which a tree of values would
// be an order of magnitude too slow.
//
//   JsonLine line;
//   line.text("kind", "alloc").number("size", 512).hex("address", 0x7f00);
//   out << line.finish();  // {"kind":"alloc","size":512,"address":"0x7f00"}\n
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::tools {

class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value);
  // Left out when empty.
  JsonLine& text_if(std::string_view key, std::string_view value);
  JsonLine& boolean(std::string_view key, bool value);
  // Not a number and the infinities, which JSON has not, become null.
  JsonLine& real(std::string_view key, double value);
  // Identities and addresses: as text, since many readers of JSON round numbers above 2^53.
  JsonLine& hex(std::string_view key, std::uint64_t value);
  JsonLine& number(std::string_view key, std::integral auto value) {
    start(key);
    text_ += std::to_string(value);
    return *this;
  }

  // Ready-made JSON: an array or an object.
  JsonLine& raw(std::string_view key, std::string_view json);

  // The whole line with its end. The object is then empty again and may be reused.
  std::string_view finish();

 private:
  void start(std::string_view key);

  std::string text_;
  bool finished_ = true;
};

// `text` as a JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace plumbline::tools
