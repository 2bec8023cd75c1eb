// Files that this program carries, so that it can be copied alone.
#pragma once

#include <cstddef>
#include <string>
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

// The script of compare-outputs: one file.
extern const SourceFile kOutputProbes[];
extern const std::size_t kOutputProbeCount;

// Templates of frameworks, see recorder/probe_template.hpp.
extern const SourceFile kTemplates[];
extern const std::size_t kTemplateCount;

// Writes one under its own name into a directory. The path; empty where it cannot be written.
std::string write_source(const SourceFile& source, const std::string& directory);

}  // namespace plumbline::tools
