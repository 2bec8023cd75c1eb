// Files that this program carries, so that it can be copied alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace plumbline::tools {

struct SourceFile {
  std::string_view path;  // relative to the source tree
  std::string_view text;
};

// What the adapter is made of.
extern const SourceFile kAdapterSources[];
extern const std::size_t kAdapterSourceCount;

// The script of check-collectives: one file.
extern const SourceFile kCollectiveProbes[];
extern const std::size_t kCollectiveProbeCount;

// Templates of frameworks, see recorder/probe_template.hpp.
extern const SourceFile kTemplates[];
extern const std::size_t kTemplateCount;

}  // namespace plumbline::tools
