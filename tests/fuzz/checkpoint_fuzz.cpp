// libFuzzer target for checkpoints: the input is a file of safetensors or of torch.save, which is seen by its
// beginning, or the files of a directory in one.
//
//   mkdir corpus && build-fuzz/bin/checkpoint_corruption seeds corpus && build-fuzz/bin/checkpoint_fuzz corpus/
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/checkpoint_directories.hpp"
#include "tests/fuzz/checkpoint_everything.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder = plumbline::fuzz::fresh_directory();
  if (const auto files = plumbline::fuzz::unpacked({reinterpret_cast<const char*>(data), size})) {
    plumbline::fuzz::write_directory(folder + "/many", *files);
    plumbline::fuzz::read_checkpoint(folder + "/many");
    return 0;
  }
  const std::string path = folder + "/a.safetensors";
  plumbline::fuzz::write_input(path, data, size);
  plumbline::fuzz::read_checkpoint(path);
  return 0;
}
