#include "tools/plumbline/interpreter.hpp"

#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tools/plumbline/subprocess.hpp"

namespace plumbline::tools {
namespace {

// "python", "python3", "python3.11", in any directory.
bool names_python(std::string_view word) {
  const auto slash = word.rfind('/');
  if (slash != std::string_view::npos) word.remove_prefix(slash + 1);
  constexpr std::string_view kName = "python";
  if (word.substr(0, kName.size()) != kName) return false;
  for (const char c : word.substr(kName.size())) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '.') return false;
  }
  return true;
}

// The first word among those of a line that names a Python.
std::string python_among(const std::string& line) {
  std::string words = line;
  for (char& c : words) {
    if (c == '\'' || c == '"') c = ' ';
  }
  std::istringstream split(words);
  for (std::string word; split >> word;) {
    if (names_python(word)) return find_program(word);
  }
  return "";
}

}  // namespace

std::string script_interpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(2, '\0');
  if (!file.read(magic.data(), 2) || magic != "#!") return "";
  std::string line;
  std::getline(file, line);
  if (auto python = python_among(line); !python.empty()) return python;
  std::getline(file, line);
  return line.find("exec'") != std::string::npos ? python_among(line) : "";
}

std::string find_interpreter(const std::vector<std::string>& command) {
  for (const auto& word : command) {
    std::string program = find_program(word);
    if (program.empty()) continue;
    if (names_python(program)) return program;
    if (auto python = script_interpreter(program); !python.empty()) return python;
  }
  for (const char* name : {"python3", "python"}) {
    if (auto program = find_program(name); !program.empty()) return program;
  }
  return "";
}

}  // namespace plumbline::tools
