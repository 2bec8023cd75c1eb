// Takes what a message defines into Definitions. Messages of events are left alone.
#pragma once

#include "reader/definitions.hpp"

namespace plumbline::trace {
struct Message;
}

namespace plumbline::reader {

// True when the message was a definition (or an Exit).
bool absorb_definition(const trace::Message& message, Definitions& definitions);

// The ranks that a group's text names: "0,2,4".
std::vector<int> parse_ranks(std::string_view text);

}  // namespace plumbline::reader
