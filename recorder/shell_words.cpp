#include "recorder/shell_words.hpp"

namespace plumbline::recorder {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
}

bool is_plain(std::string_view word) {
  for (const char c : word) {
    if (!is_plain(c)) return false;
  }
  return !word.empty();
}

void add_word(std::string& line, std::string_view word) {
  if (!line.empty()) line += ' ';
  line += shell_word(word);
}

}  // namespace

std::string shell_word(std::string_view word) {
  if (is_plain(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_line(std::string_view arguments) {
  std::string line;
  while (!arguments.empty()) {
    const std::size_t end = arguments.find('\0');
    add_word(line, arguments.substr(0, end));
    if (end == std::string_view::npos) break;
    arguments.remove_prefix(end + 1);
  }
  return line;
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) add_word(line, word);
  return line;
}

std::optional<std::vector<std::string>> split_shell_line(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (!quoted && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') {
      quoted = !quoted;
    } else if (!quoted && c == '\\' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += c;
    }
  }
  if (quoted) return std::nullopt;
  return words;
}

}  // namespace plumbline::recorder
