// The adapter's sources, carried by this program, so that it can be copied alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace plumbline::tools {

struct SourceFile {
  std::string_view path;  // relative to the source tree
  std::string_view text;
};

extern const SourceFile kAdapterSources[];
extern const std::size_t kAdapterSourceCount;

}  // namespace plumbline::tools
