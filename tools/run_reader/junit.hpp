// Verdicts as a JUnit file: one test case a check, a failure where it failed, an error where it is inconclusive,
// skipped where it had no input.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "checks/verdict.hpp"

namespace plumbline::tools {

std::string junit_text(std::string_view suite, std::span<const checks::Verdict> verdicts);

// Into a file; no file when `path` is empty. False, and a sentence on `err`, when it cannot be written.
bool write_junit(const std::string& path, std::string_view suite, std::span<const checks::Verdict> verdicts,
                 std::ostream& err);

}  // namespace plumbline::tools
