// libFuzzer target for the reader. The first byte chooses what the rest is: a trace file as it lies on disk, a ring
// file, or the contents of one frame, which is compressed here so that the layers below zstd are reached.
//
//   build-fuzz/bin/reader_fuzz -max_len=65536 corpus/
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/read_everything.hpp"

namespace {

void write(const std::string& path, const std::uint8_t* data, std::size_t size) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
}

std::string fresh_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "plumbline-fuzz-XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? name : std::string(".");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string directory = fresh_directory();
  if (size == 0) return 0;
  const std::string trace = directory + "/input.plt";
  const std::string ring = directory + "/input.ring";
  unlink(trace.c_str());
  unlink(ring.c_str());
  const std::uint8_t kind = data[0] % 3;
  ++data;
  --size;
  if (kind == 0) {
    write(trace, data, size);
  } else if (kind == 1) {
    write(ring, data, size);
  } else {
    std::vector<std::uint8_t> frame(ZSTD_compressBound(size));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), data, size, 1));
    write(trace, frame.data(), frame.size());
  }
  plumbline::fuzz::read_everything(directory);
  return 0;
}
