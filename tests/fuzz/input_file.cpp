#include "tests/fuzz/input_file.hpp"

#include <stdlib.h>

#include <cstdio>
#include <filesystem>

namespace plumbline::fuzz {

std::string fresh_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-fuzz-XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? name : std::string(".");
}

void write_input(const std::string& path, const std::uint8_t* data, std::size_t size) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
}

}  // namespace plumbline::fuzz
