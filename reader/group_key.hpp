// What makes two ranks' groups the same group: name and global ranks, within one launch and attempt.
#pragma once

#include <string>

#include "reader/trace.hpp"

namespace plumbline::reader {

std::string group_key(const Trace& trace, const Group& group);

}  // namespace plumbline::reader
