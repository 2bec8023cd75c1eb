#include "tools/plumbline/say.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace plumbline::tools {

void say(const std::string& sentence) { fmt::print(stderr, "plumbline: {}\n", sentence); }

}  // namespace plumbline::tools
