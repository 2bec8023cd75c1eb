#include "tools/plumbline/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::tools {
namespace {

const char* word_of(Grade grade) {
  switch (grade) {
    case Grade::kFine:
      return "ok";
    case Grade::kNote:
      return "note";
    case Grade::kProblem:
      return "BAD";
  }
  return "";
}

}  // namespace

bool Findings::any_problem() const {
  return std::any_of(all_.begin(), all_.end(), [](const Finding& one) { return one.grade == Grade::kProblem; });
}

std::string Findings::text() const {
  std::string text;
  for (const Finding& one : all_) text += fmt::format("{:<6}{}: {}\n", word_of(one.grade), one.subject, one.sentence);
  return text;
}

}  // namespace plumbline::tools
