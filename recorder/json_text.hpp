// A text as a JSON string, with its quotes. Bytes that are no UTF-8 stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::recorder {

inline std::string json_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += {'\\', c};
    } else if (byte < 0x20) {
      quoted += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace plumbline::recorder
