// Command lines as one text: words as a POSIX shell reads them, so that a person can paste the line, and a program gets
// the same words back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::recorder {

// A word in single quotes where a shell would change it: don't → 'don'\''t'.
std::string shell_word(std::string_view word);

// Of arguments that each end with a zero byte, as /proc has them.
std::string shell_line(std::string_view arguments);
std::string shell_line(const std::vector<std::string>& words);

// The words of what shell_line() gave. Nothing when a quote is left open.
std::optional<std::vector<std::string>> split_shell_line(std::string_view line);

}  // namespace plumbline::recorder
