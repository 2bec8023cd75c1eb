// libFuzzer target for the reader. The first byte chooses what the rest is: a trace file as it lies on disk, a ring
// file, or the contents of one frame, which is compressed here so that the layers below zstd are reached.
//
//   build-fuzz/bin/reader_fuzz -max_len=65536 corpus/
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/input_file.hpp"
#include "tests/fuzz/read_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string directory = plumbline::fuzz::fresh_directory();
  if (size == 0) return 0;
  const std::string trace = directory + "/input.plt";
  const std::string ring = directory + "/input.ring";
  unlink(trace.c_str());
  unlink(ring.c_str());
  const std::uint8_t kind = data[0] % 3;
  ++data;
  --size;
  if (kind == 0) {
    plumbline::fuzz::write_input(trace, data, size);
  } else if (kind == 1) {
    plumbline::fuzz::write_input(ring, data, size);
  } else {
    std::vector<std::uint8_t> frame(ZSTD_compressBound(size));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), data, size, 1));
    plumbline::fuzz::write_input(trace, frame.data(), frame.size());
  }
  plumbline::fuzz::read_everything(directory);
  return 0;
}
