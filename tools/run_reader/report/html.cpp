#include "tools/run_reader/report/html.hpp"

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {

namespace {

void escape_line(std::string_view line, std::string& result) {
  for (const char c : printable(line)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', start)) {
    escape_line(text.substr(start, end - start), result);
    result += '\n';
    start = end + 1;
  }
  escape_line(text.substr(start), result);
  return result;
}

std::string element(std::string_view name, std::string_view text) {
  const std::string tag(name);
  return "<" + tag + ">" + escaped(text) + "</" + tag + ">";
}

}  // namespace plumbline::tools
