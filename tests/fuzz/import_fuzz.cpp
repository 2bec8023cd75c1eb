// libFuzzer target for the importers: the input is a file as a user gives it.
//
//   build-fuzz/bin/import_corruption seeds corpus/ && build-fuzz/bin/import_fuzz -max_len=65536 corpus/
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/fuzz/import_everything.hpp"

namespace {

std::string fresh_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-fuzz-XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? name : std::string(".");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = fresh_directory() + "/rank_0";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  plumbline::fuzz::import_everything(path);
  return 0;
}
