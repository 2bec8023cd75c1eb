#include "reader/import/frames.hpp"

#include <charconv>

namespace plumbline::reader::imports {

bool is_library_file(std::string_view path) {
  if (path.empty() || path == "none" || path.front() == '<') return true;  // "<frozen …>", "<string>"
  if (path.starts_with("torch/")) return true;                             // as py-spy shortens them
  if (path.ends_with(".cpp") || path.ends_with(".so")) return true;
  for (const std::string_view part : {"-packages/torch/", "/torch/distributed/", "/torch/nn/", "/torch/autograd/",
                                      "/torch/optim/", "/torch/utils/", "/torch/_"})
    if (path.find(part) != std::string_view::npos) return true;
  return path.ends_with("/torch/functional.py") || path.ends_with("/torch/random.py");
}

ImportedFrame profiler_frame(ImportedFrame frame) {
  if (frame.file != "none" && !frame.file.empty()) return frame;
  const std::string_view name = frame.function;
  const std::size_t open = name.find(".py(");
  const std::size_t close = name.find("): ", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return frame;
  const std::string_view digits = name.substr(open + 4, close - open - 4);
  std::from_chars(digits.data(), digits.data() + digits.size(), frame.line);
  frame.file = name.substr(0, open + 3);
  frame.function = std::string(name.substr(close + 3));
  return frame;
}

std::string call_site(const std::vector<ImportedFrame>& python) {
  for (const ImportedFrame& frame : python)
    if (!is_library_file(frame.file)) return frame.file + ":" + std::to_string(frame.line) + " in " + frame.function;
  return {};
}

}  // namespace plumbline::reader::imports
