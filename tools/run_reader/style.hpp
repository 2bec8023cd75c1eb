// Colours, on a terminal only.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::tools {

class Style {
 public:
  explicit Style(bool on) : on_(on) {}

  std::string bold(std::string_view text) const { return in("1", text); }
  std::string red(std::string_view text) const { return in("1;31", text); }
  std::string yellow(std::string_view text) const { return in("1;33", text); }
  std::string green(std::string_view text) const { return in("1;32", text); }

 private:
  std::string in(std::string_view code, std::string_view text) const {
    if (!on_) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  bool on_;
};

}  // namespace plumbline::tools
