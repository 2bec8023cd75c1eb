#include "tools/plumbline/source_files.hpp"

#include <filesystem>
#include <fstream>

namespace plumbline::tools {

std::string write_source(const SourceFile& source, const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / std::filesystem::path(source.path).filename()).string();
  std::ofstream file(path, std::ios::binary);
  file << source.text;
  return file.flush() ? path : "";
}

}  // namespace plumbline::tools
