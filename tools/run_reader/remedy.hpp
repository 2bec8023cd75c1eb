// What to say when there is no run where one was named: what is there instead, and what to give.
#pragma once

#include <string>

#include "reader/status.hpp"

namespace plumbline::tools {

// One line: the status of Run::open(path), with what the file looks like and a remedy.
std::string why_no_run(const std::string& path, const reader::Status& status);

}  // namespace plumbline::tools
