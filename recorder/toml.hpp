// The little of TOML that the recorder reads: top-level keys with plain values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline::recorder {

// Keys with their values as text (strings without quotes, numbers and booleans as written out). A table or an array is
// given under its key with an empty value. `error` says where a malformed text breaks off, and is empty otherwise.
std::vector<std::pair<std::string, std::string>> parse_toml_pairs(std::string_view text, std::string& error);

}  // namespace plumbline::recorder
