// Writes checkpoints for tests, as safetensors and torch.save do.
//
//   write_safetensors(path, {tensor("embed.weight", {8, 4}, 1), tensor("norm.weight", {4}, 2, DType::kBF16)});
//   write_torch_file(path, dict({{"step", 7}, {"state", dict({{"exp_avg", tensor("", {8, 4}, 3)}})}}));
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::reader::testing {

struct TensorData {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> bytes;
};

// Values of a normal distribution with a standard deviation of 0.02, the same for the same seed.
TensorData tensor(std::string name, std::vector<std::uint64_t> shape, unsigned seed, DType dtype = DType::kF32);
TensorData tensor_of(std::string name, std::vector<std::uint64_t> shape, const std::vector<float>& values,
                     DType dtype = DType::kF32);

// In memory alone.
Checkpoint checkpoint_of(std::vector<TensorData> tensors, std::vector<NamedValue> values = {});

std::string safetensors_bytes(const std::vector<TensorData>& tensors);
// Any header before any data.
std::string safetensors_bytes(const std::string& header, const std::string& data);
void write_safetensors(const std::string& path, const std::vector<TensorData>& tensors);

// What torch.save can be given.
struct Node {
  using List = std::vector<Node>;
  using Dict = std::vector<std::pair<Node, Node>>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, TensorData, List, Dict> value;

  Node() = default;
  Node(bool b) : value(b) {}
  Node(int i) : value(std::int64_t{i}) {}
  Node(std::int64_t i) : value(i) {}
  Node(double d) : value(d) {}
  Node(const char* text) : value(std::string(text)) {}
  Node(std::string text) : value(std::move(text)) {}
  Node(TensorData tensor) : value(std::move(tensor)) {}
  Node(List list) : value(std::move(list)) {}
  Node(Dict dict) : value(std::move(dict)) {}
};
inline Node dict(Node::Dict entries) { return Node(std::move(entries)); }
inline Node list(Node::List entries) { return Node(std::move(entries)); }

// Members stored as they are, in a folder "archive".
std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& members);
std::string torch_file_bytes(const Node& root);
void write_torch_file(const std::string& path, const Node& root);

}  // namespace plumbline::reader::testing
