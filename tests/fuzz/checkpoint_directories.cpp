#include "tests/fuzz/checkpoint_directories.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>

#include "reader/checkpoint/testing/checkpoint_files.hpp"
#include "reader/checkpoint/testing/distributed_metadata.hpp"
#include "tests/fuzz/input_file.hpp"

namespace plumbline::fuzz {
namespace {

using reader::testing::dict;
using reader::testing::distributed_metadata;
using reader::testing::list;
using reader::testing::safetensors_bytes;
using reader::testing::StoredPart;
using reader::testing::tensor;
using reader::testing::torch_file_bytes;

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kFirst = "model-1.safetensors";
constexpr const char* kSecond = "model-2.safetensors";

constexpr std::string_view kMark = "dir\n";
constexpr std::array<std::string_view, 12> kNames = {
    kIndex,      kFirst,         kSecond,        "model.safetensors", "config.json",        "generation_config.json",
    ".metadata", "__0_0.distcp", "__1_0.distcp", "optimizer.pt",      "trainer_state.json", "pytorch_model.bin"};
constexpr std::size_t kSizeBytes = 3;

std::string index_of(const std::string& map, const std::string& total = "60") {
  return R"({"metadata":{"total_size":)" + total + R"(},"weight_map":)" + map + "}";
}

Files shards(const std::string& index) {
  return {{kIndex, index},
          {kFirst, safetensors_bytes({tensor("embed", {4, 3}, 1)})},
          {kSecond, safetensors_bytes({tensor("norm", {2}, 2), tensor("scale", {2}, 3, reader::DType::kBF16)})},
          {"config.json", R"({"hidden_size":3,"eos_token_id":[1,2],"rope_scaling":null,"dtype":"bfloat16"})"},
          {"generation_config.json", R"({"do_sample":true,"temperature":0.7})"}};
}

std::string good_index() {
  return index_of(R"({"embed":"model-1.safetensors","norm":"model-2.safetensors","scale":"model-2.safetensors"})");
}

Files trainer() {
  const auto state = dict({{"exp_avg", tensor("", {2}, 1)}, {"step", 3.0}});
  return {{"model.safetensors", safetensors_bytes({tensor("w", {2}, 1)})},
          {"optimizer.pt",
           torch_file_bytes(dict({{"state", dict({{0, state}})}, {"param_groups", list({dict({{"lr", 0.1}})})}}))},
          {"trainer_state.json", R"({"global_step":3,"log_history":[{"loss":1.5},{"loss":1.25}]})"}};
}

std::string row(unsigned seed) { return torch_file_bytes(tensor("", {1, 3}, seed)); }

Files distributed(const std::vector<StoredPart>& parts, const std::vector<int>& shape = {2, 3}) {
  return {{".metadata", distributed_metadata({{"model.w", {"model", "w"}, shape}}, parts)},
          {"__0_0.distcp", row(1)},
          {"__1_0.distcp", row(2)}};
}

std::vector<StoredPart> rows(const std::string& first = "__0_0.distcp", const std::string& second = "__1_0.distcp") {
  const auto size = static_cast<int>(row(1).size());
  return {{"model.w", {0, 0}, first, 0, size}, {"model.w", {1, 0}, second, 0, size}};
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string large_map() {
  std::string map = "{";
  for (int i = 0; i < 20000; ++i) {
    map += map.size() > 1 ? ",\"" : "\"";
    map += std::to_string(i) + R"(":"model-1.safetensors")";
  }
  return map + "}";
}

// What may stand in place of a file's name.
std::vector<std::string> names_that_lead_elsewhere(const std::string& outside) {
  const std::string name = std::filesystem::path(outside).filename().string();
  return {outside, "../" + name, "x/../../" + name, "..", ".", "/", "", "../" + name + '\0' + ".x"};
}

std::string json_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) text.replace(at, 1, "\\u0000");
  return '"' + text + '"';
}

}  // namespace

std::vector<CheckpointDirectory> checkpoint_directories() {
  return {{"sharded", shards(good_index())}, {"trainer", trainer()}, {"distributed", distributed(rows())}};
}

std::vector<CheckpointDirectory> hostile_directories(const std::string& outside) {
  std::vector<CheckpointDirectory> all;
  const auto index = [&](const std::string& name, const std::string& text) { all.push_back({name, shards(text)}); };
  for (const std::string& name : names_that_lead_elsewhere(outside)) {
    index("index to " + name, index_of(R"({"embed":)" + json_text(name) + "}"));
    all.push_back({"part in " + name, distributed(rows("__0_0.distcp", name))});
  }
  index("a name that ends early", index_of(R"({"embed":"model-1.safetensors\u0000.x"})"));
  index("a shard that is not there", index_of(R"({"embed":"model-3.safetensors"})"));
  index("a weight in a shard without it", index_of(R"({"embed":"model-2.safetensors"})"));
  index("a weight twice", index_of(R"({"embed":"model-1.safetensors","embed":"model-2.safetensors"})"));
  index("the index as a shard", index_of(R"({"embed":"model.safetensors.index.json"})"));
  index("no file", index_of(R"({"embed":7,"norm":null,"scale":{}})"));
  index("no map", R"({"metadata":{}})");
  index("a list for a map", index_of(R"(["embed","model-1.safetensors"])"));
  index("a total that is no number", index_of("{}", "1e400"));
  index("a negative total", index_of("{}", "-9223372036854775808"));
  index("nested maps", index_of(nested(100'000)));
  index("brackets that never close", std::string(100'000, '['));
  index("many weights that are not there", index_of(large_map()));
  index("a long name", index_of(R"({"embed":")" + std::string(100'000, 'x') + R"("})"));
  index("packed", "\x1f\x8b\x08");
  index("nothing", "");
  auto settings = shards(good_index());
  settings["config.json"] = R"({"a":)" + nested(100'000) + "}";
  all.push_back({"nested settings", std::move(settings)});
  all.push_back({"a part that is not there", distributed(rows("__0_0.distcp", "__7_0.distcp"))});
  all.push_back({"a tensor larger than its files", distributed(rows(), {1 << 30, 1 << 30, 1 << 30})});
  all.push_back({"a tensor of more dimensions", distributed(rows(), {2, 3, 1})});
  all.push_back({"the same part twice", distributed({rows()[0], rows()[0]})});
  all.push_back({"the metadata as a part", distributed(rows("__0_0.distcp", ".metadata"))});
  return all;
}

std::string outside_contents() { return row(2); }

std::string packed(const Files& files) {
  std::string text(kMark);
  for (const auto& [name, contents] : files) {
    const auto known = std::find(kNames.begin(), kNames.end(), name);
    if (known == kNames.end()) continue;
    text += static_cast<char>(known - kNames.begin());
    for (std::size_t i = 0; i < kSizeBytes; ++i) text += static_cast<char>(contents.size() >> (8 * i));
    text += contents;
  }
  return text;
}

std::optional<Files> unpacked(std::string_view text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  text.remove_prefix(kMark.size());
  Files files;
  while (text.size() > kSizeBytes) {
    const std::string_view name = kNames[static_cast<unsigned char>(text[0]) % kNames.size()];
    std::size_t size = 0;
    for (std::size_t i = kSizeBytes; i > 0; --i) size = size << 8 | static_cast<unsigned char>(text[i]);
    text.remove_prefix(1 + kSizeBytes);
    files[std::string(name)] = text.substr(0, size);
    text.remove_prefix(std::min(size, text.size()));
  }
  return files;
}

void write_directory(const std::string& directory, const Files& files) {
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  std::filesystem::create_directories(directory, ignored);
  for (const auto& [name, contents] : files) {
    const std::string path = std::filesystem::path(directory) / name;
    write_input(path, reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size());
  }
}

}  // namespace plumbline::fuzz
