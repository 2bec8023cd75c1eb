// Text on its way into an HTML page.
#pragma once

#include <string>
#include <string_view>

namespace plumbline::tools {

// Safe as an element's content and as an attribute's value; control characters other than the end of a line, and broken
// UTF-8, become '?'.
std::string escaped(std::string_view text);

// "<name>text</name>", with the text escaped.
std::string element(std::string_view name, std::string_view text);

}  // namespace plumbline::tools
