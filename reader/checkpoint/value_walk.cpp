#include "reader/checkpoint/value_walk.hpp"

#include <bit>
#include <cstring>
#include <functional>

#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

using imports::Value;
using imports::ValueType;

constexpr int kMostDepth = 60;
// Of a longer text its beginning and hash are kept.
constexpr std::size_t kLongestText = 4096;

std::string kept(std::string_view text) {
  if (text.size() <= kLongestText) return std::string(text);
  return std::string(text.substr(0, 64)) + ".. (" + std::to_string(text.size()) + " bytes, hash " +
         std::to_string(std::hash<std::string_view>{}(text)) + ")";
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// A number of numpy's, of a few bytes and a type such as "f8".
std::optional<Scalar> numpy_number(std::string_view type, std::string_view bytes) {
  if (type == "f8" && bytes.size() == 8) return Scalar(value_at(DType::kF64, bytes_of(bytes), 0));
  if (type == "f4" && bytes.size() == 4) return Scalar(value_at(DType::kF32, bytes_of(bytes), 0));
  if (type == "b1" && bytes.size() == 1) return Scalar(bytes[0] != 0);
  if (type == "i8" && bytes.size() == 8) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return Scalar(value);
  }
  return std::nullopt;
}

}  // namespace

void ValueWalk::lay_out(Value root, const std::string& prefix) {
  const std::string key = prefix.empty() ? "value" : prefix.substr(0, prefix.size() - 1);
  if (root.is_list() || root.is_dict()) {
    visit_members(root, prefix, 0);
  } else {
    visit(root, {}, key, 0);
  }
  if (left_out_.empty()) return;
  const std::string& file = to_.files[file_].name;
  to_.problems.push_back(
      {ProblemKind::kUnreadTensor, file, left_out_,
       file + ": " + imports::shown(left_out_) + " and what follows is nested or shared too much to be laid out."});
}

void ValueWalk::visit(Value value, const std::string& section, const std::string& key, int depth) {
  if (budget_ == 0 || depth > kMostDepth) {
    if (left_out_.empty()) left_out_ = section + key;
    return;
  }
  --budget_;
  switch (value.type()) {
    case ValueType::kList:
    case ValueType::kDict:
      return visit_members(value, section + key + '.', depth + 1);
    case ValueType::kObject:
      return visit_object(value, section, key, depth);
    default:
      return add_value(section + key, scalar(value));
  }
}

void ValueWalk::visit_members(Value container, const std::string& section, int depth) {
  const auto items = data_.items(container);
  const std::size_t stride = container.is_dict() ? 2 : 1;
  for (std::size_t at = 0; at + stride <= items.size() && left_out_.empty(); at += stride) {
    const std::size_t index = at / stride;
    const std::string key = container.is_dict() ? key_text(items[at], index) : std::to_string(index);
    visit(items[at + stride - 1], section, key, depth);
  }
}

void ValueWalk::visit_object(Value object, const std::string& section, const std::string& key, int depth) {
  if (auto tensor = as_tensor_(object, section + key)) return add_tensor(std::move(*tensor), section, key);
  if (add_numpy(object, section, key)) return;
  if (const Value state = data_.state(object); state.is_list() || state.is_dict()) {
    return visit(state, section, key, depth);
  }
  if (const Value entries = data_.entries(object); !entries.is_none()) return visit(entries, section, key, depth);
  const auto arguments = data_.arguments(object);
  for (std::size_t i = 0; i < arguments.size() && left_out_.empty(); ++i) {
    visit(arguments[i], section + key + '.', std::to_string(i), depth + 1);
  }
}

// Arrays and numbers of numpy, as random states and metrics are saved.
bool ValueWalk::add_numpy(Value object, const std::string& section, const std::string& key) {
  const std::string_view name = data_.class_name(object);
  if (!name.starts_with("numpy.")) return false;
  const auto arguments = data_.arguments(object);
  if (name.ends_with("multiarray.scalar") && arguments.size() == 2) {
    const auto type = data_.arguments(arguments[0]);
    const auto number = type.empty() ? std::nullopt : numpy_number(data_.text(type[0]), data_.text(arguments[1]));
    if (number) add_value(section + key, *number);
    return number.has_value();
  }
  // The state of an array: version, shape, type, order, and its bytes.
  const auto state = data_.items(data_.state(object));
  if (!name.ends_with("multiarray._reconstruct") || state.size() != 5 || !state[4].is_text()) return false;
  Tensor tensor;
  tensor.dtype = DType::kU8;
  tensor.bytes = bytes_of(data_.text(state[4]));
  tensor.shape = {tensor.bytes.size()};
  add_tensor(std::move(tensor), section, key);
  return true;
}

void ValueWalk::add_value(const std::string& name, Scalar value) { to_.values.push_back({name, std::move(value)}); }

void ValueWalk::add_tensor(Tensor tensor, const std::string& section, const std::string& key) {
  tensor.name = section + key;
  tensor.section_size = section.size();
  tensor.file = file_;
  to_.tensors.push_back(std::move(tensor));
}

Scalar ValueWalk::scalar(Value value) const {
  switch (value.type()) {
    case ValueType::kBool:
      return data_.truth(value);
    case ValueType::kInt:
    case ValueType::kWideInt:
      return data_.integer_or(value, 0);
    case ValueType::kFloat:
      return data_.number_or(value, 0);
    case ValueType::kText:
      return kept(data_.text(value));
    case ValueType::kName:
      return kept(data_.name(value));
    default:
      return {};
  }
}

std::string ValueWalk::key_text(Value key, std::size_t index) const {
  if (key.is_text()) return kept(data_.text(key));
  if (const auto number = data_.integer(key)) return std::to_string(*number);
  return "entry " + std::to_string(index);
}

}  // namespace plumbline::reader
