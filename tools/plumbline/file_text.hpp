// The whole of a small file, as text.
#pragma once

#include <string>

namespace plumbline::tools {

// As far as it can be read: empty when it is not there, is a directory, or belongs to a process that has just ended.
// Unlike a stream's iterators it throws in no case.
std::string file_text(const std::string& path);

}  // namespace plumbline::tools
