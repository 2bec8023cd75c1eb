#include "checks/name_pattern.hpp"

#include <vector>

namespace plumbline::checks {
namespace {

using Parts = std::vector<std::string_view>;

// What the stars of `pattern` stand for, the first ones as short as possible.
bool match(std::string_view pattern, std::string_view name, Parts& stars) {
  while (!pattern.empty() && pattern.front() != '*') {
    if (name.empty() || name.front() != pattern.front()) return false;
    pattern.remove_prefix(1);
    name.remove_prefix(1);
  }
  if (pattern.empty()) return name.empty();
  const bool any_parts = pattern.starts_with("**");
  pattern.remove_prefix(any_parts ? 2 : 1);
  for (std::size_t length = 0; length <= name.size(); ++length) {
    if (length > 0 && !any_parts && name[length - 1] == '.') return false;
    stars.push_back(name.substr(0, length));
    if (match(pattern, name.substr(length), stars)) return true;
    stars.pop_back();
  }
  return false;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  Parts stars;
  return match(pattern, name, stars);
}

std::optional<std::string> translated(std::string_view from, std::string_view to, std::string_view name) {
  Parts stars;
  if (!match(from, name, stars)) return std::nullopt;
  std::string result;
  std::size_t next = 0;
  while (!to.empty()) {
    if (to.front() != '*') {
      result += to.front();
      to.remove_prefix(1);
      continue;
    }
    if (next == stars.size()) return std::nullopt;
    result += stars[next++];
    to.remove_prefix(to.starts_with("**") ? 2 : 1);
  }
  if (next != stars.size()) return std::nullopt;
  return result;
}

}  // namespace plumbline::checks
