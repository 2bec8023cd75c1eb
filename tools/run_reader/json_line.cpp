#include "tools/run_reader/json_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const std::size_t length = utf8_bytes(text);
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text.front();
    } else if (byte < 0x20 || byte == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else if (length == 0) {
      out += "\\ufffd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

}  // namespace

JsonLine& JsonLine::text(std::string_view key, std::string_view value) {
  start(key);
  append_string(text_, value);
  return *this;
}

JsonLine& JsonLine::text_if(std::string_view key, std::string_view value) {
  return value.empty() ? *this : text(key, value);
}

JsonLine& JsonLine::boolean(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }

JsonLine& JsonLine::real(std::string_view key, double value) {
  start(key);
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(text_), "{}", value);
  } else {
    text_ += "null";
  }
  return *this;
}

JsonLine& JsonLine::hex(std::string_view key, std::uint64_t value) {
  start(key);
  fmt::format_to(std::back_inserter(text_), "\"{:#x}\"", value);
  return *this;
}

JsonLine& JsonLine::raw(std::string_view key, std::string_view json) {
  start(key);
  text_ += json;
  return *this;
}

std::string_view JsonLine::finish() {
  if (finished_) text_ = "{";
  finished_ = true;
  text_ += "}\n";
  return text_;
}

void JsonLine::start(std::string_view key) {
  if (finished_) {
    text_ = "{";
    finished_ = false;
  } else {
    text_ += ',';
  }
  text_ += '"';
  text_ += key;
  text_ += "\":";
}

std::string json_string(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

}  // namespace plumbline::tools
