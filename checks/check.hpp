// The list of checks. A check looks at a run and returns a verdict; it prints nothing and opens no file.
//
//   Subject subject(run);
//   for (const Check& check : all_checks()) report(evaluate(check, subject));
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
  bool of_captures = false;  // looks at captured tensors only
};

// A look at everything leaves out what has no word to say on a run that captured no tensors.
bool applies(const Check& check, const Subject& subject);

// The check's verdict. One of captures looks at each start of all ranks by itself, and is told what was lost of them.
Verdict evaluate(const Check& check, const Subject& subject);

std::span<const Check> all_checks();

}  // namespace plumbline::checks
