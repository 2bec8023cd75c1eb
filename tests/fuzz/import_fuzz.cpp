// libFuzzer target for the importers: the input is a file as a user gives it.
//
//   build-fuzz/bin/import_corruption seeds corpus/ && build-fuzz/bin/import_fuzz -max_len=65536 corpus/
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/import_everything.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string path = plumbline::fuzz::fresh_directory() + "/rank_0";
  plumbline::fuzz::write_input(path, data, size);
  plumbline::fuzz::import_everything(path);
  return 0;
}
