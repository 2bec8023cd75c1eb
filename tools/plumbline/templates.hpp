// `plumbline template`: templates that this program carries, and the check of a user's own.
#pragma once

#include <string>

namespace plumbline::tools {

// A file: says what is wrong with it, a line each on stderr and status 2, or what its probes are. A name of a carried
// template: prints it. Empty: lists the names.
int show_template(const std::string& name);

// The file for PLUMBLINE_TEMPLATE: `name` itself if it is a file, else the carried template of that name, put into
// `directory`. Empty, with one sentence in `why`, when there is no such template, or it has mistakes.
std::string template_file(const std::string& name, const std::string& directory, std::string& why);

}  // namespace plumbline::tools
