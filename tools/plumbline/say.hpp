// One line on stderr, as this program says it.
#pragma once

#include <string>

namespace plumbline::tools {

void say(const std::string& sentence);

}  // namespace plumbline::tools
