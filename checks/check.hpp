// The list of checks. A check looks at a run and returns a verdict; it prints nothing and opens no file.
//
//   Subject subject(run);
//   for (const Check& check : all_checks()) report(check.evaluate(subject));
//
// A new check is one file with its function, and one line in check.cpp.
#pragma once

#include <span>
#include <string_view>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct Check {
  std::string_view name;
  std::string_view question;  // what it answers, for a list of checks
  Verdict (*evaluate)(const Subject& subject);
};

std::span<const Check> all_checks();

}  // namespace plumbline::checks
