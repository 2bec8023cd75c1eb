// libFuzzer target for templates: the input is the text of one. tools/templates/ is a first corpus.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "recorder/probe_template.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> complaints;
  const auto description = plumbline::recorder::parse_template({reinterpret_cast<const char*>(data), size}, complaints);
  plumbline::recorder::template_json(description);
  return 0;
}
