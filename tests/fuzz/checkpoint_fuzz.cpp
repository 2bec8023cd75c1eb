// libFuzzer target for checkpoints: the input is a file of safetensors or of torch.save, which is seen by its
// beginning.
//
//   mkdir corpus && build-fuzz/bin/checkpoint_corruption seeds corpus && build-fuzz/bin/checkpoint_fuzz corpus/
#include <stdlib.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/fuzz/checkpoint_everything.hpp"

namespace {

std::string fresh_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-fuzz-XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? name : std::string(".");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = fresh_directory() + "/a.safetensors";
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  plumbline::fuzz::read_checkpoint(path);
  return 0;
}
