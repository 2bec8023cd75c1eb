// How fast parameters are compared with an original checkpoint, from the page cache.
//
//   checkpoint_bench [millions of parameters]      quick: a few, to see that it runs
//
// Prints the bytes a second of one side: equal bit for bit, and as a cast from float32 to bfloat16.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "checks/state_checks.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "reader/testing/records.hpp"

namespace {

using plumbline::reader::Checkpoint;
using plumbline::reader::DType;

constexpr std::size_t kRows = 4096;
constexpr std::size_t kMillion = 1'000'000;

// One safetensors file of matrices, each of 16 million elements or what is left, made of one random block.
void write_checkpoint(const std::string& path, std::size_t parameters, DType dtype) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0F, 0.02F);
  std::vector<float> values(kBlock);
  for (float& value : values) value = normal(random);
  std::vector<std::byte> block(kBlock * size_of(dtype));
  write_floats(dtype, values, block);

  const std::size_t columns = 4096;
  std::string header = "{";
  std::size_t offset = 0;
  for (std::size_t done = 0, index = 0; done < parameters; done += kRows * columns, ++index) {
    const std::size_t bytes = kRows * columns * size_of(dtype);
    header += (index == 0 ? "\"" : ",\"") + std::string("layers.") + std::to_string(index) + ".weight\":{\"dtype\":\"" +
              std::string(name_of(dtype)) + "\",\"shape\":[" + std::to_string(kRows) + "," + std::to_string(columns) +
              "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(offset + bytes) + "]}";
    offset += bytes;
  }
  header += "}";
  std::ofstream file(path, std::ios::binary);
  const std::uint64_t length = header.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << header;
  for (std::size_t done = 0; done < offset; done += block.size()) {
    file.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size()));
  }
}

Checkpoint open(const std::string& path) {
  auto checkpoint = plumbline::reader::open_checkpoint(path);
  if (checkpoint.ok()) return std::move(*checkpoint);
  std::fprintf(stderr, "%s\n", checkpoint.status().message().c_str());
  std::exit(1);
}

double seconds_of_check(const std::string& subject, const std::string& reference) {
  const auto start = std::chrono::steady_clock::now();
  const Checkpoint mine = open(subject);
  const Checkpoint theirs = open(reference);
  const auto verdict = plumbline::checks::check_load({&mine, &theirs, nullptr});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (verdict.status != plumbline::checks::Status::kPass) {
    std::fprintf(stderr, "the check did not pass: %s\n", verdict.reason.c_str());
    std::exit(1);
  }
  return took.count();
}

void measure(const char* what, const std::string& subject, const std::string& reference) {
  seconds_of_check(subject, reference);  // brings both into the page cache
  const double seconds = seconds_of_check(subject, reference);
  const auto bytes = static_cast<double>(std::filesystem::file_size(reference));
  std::printf("%s: %.2f GB in %.3f s, %.2f GB/s\n", what, bytes / 1e9, seconds, bytes / 1e9 / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string_view(argv[1]) == "quick";
  const std::size_t millions = quick || argc < 2 ? 20 : std::strtoull(argv[1], nullptr, 10);
  const plumbline::reader::testing::TempDir directory;
  const std::string original = directory / "original.safetensors";
  const std::string loaded = directory / "loaded.safetensors";
  write_checkpoint(original, millions * kMillion, DType::kBF16);
  write_checkpoint(loaded, millions * kMillion, DType::kBF16);
  measure("bfloat16, equal bit for bit", loaded, original);
  const std::string wide = directory / "wide.safetensors";
  write_checkpoint(wide, millions * kMillion / 4, DType::kF32);
  write_checkpoint(loaded, millions * kMillion / 4, DType::kBF16);
  measure("float32 cast to bfloat16", loaded, wide);
  return 0;
}
