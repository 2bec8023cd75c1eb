// Whole JSON documents, for the commands that print one.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>

namespace plumbline::tools {

using Json = nlohmann::ordered_json;

// Indented; bytes that are no UTF-8, which a broken trace may carry, become U+FFFD.
inline void print_json(std::ostream& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace plumbline::tools
