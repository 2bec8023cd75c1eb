// Python frames as files of other programs name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reader/import/imported_process.hpp"

namespace plumbline::reader::imports {

// A file of PyTorch itself, or of Python's own machinery: not where to look for the user's line.
bool is_library_file(std::string_view path);

// A profile turned into a snapshot names its frames "torch/optim/adam.py(139): _init_group": taken apart into file,
// line and function. Other frames are given back as they are.
ImportedFrame profiler_frame(ImportedFrame frame);

// "PATH:LINE in FUNCTION" of the innermost frame outside of libraries; empty when there is none.
std::string call_site(const std::vector<ImportedFrame>& python);

}  // namespace plumbline::reader::imports
