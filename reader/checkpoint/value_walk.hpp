// Nested plain data laid out flat: every value and tensor in it under its path, {"a": {"b": [1, 2]}} as a.b.0 and
// a.b.1.
//
// Data may contain itself, and share so much that laid out it would be endless: depth and number are limited, and what
// was left out is told as a problem.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/import/plain_data.hpp"

namespace plumbline::reader {

class ValueWalk {
 public:
  // What an object of the data is, when it is a tensor: its name and place are set by the walk.
  using AsTensor = std::function<std::optional<Tensor>(imports::Value object, const std::string& name)>;

  // `budget`: how many values are laid out at most.
  ValueWalk(const imports::PlainData& data, std::size_t file, std::uint64_t budget, AsTensor as_tensor, Checkpoint& to)
      : data_(data), file_(file), budget_(budget), as_tensor_(std::move(as_tensor)), to_(to) {}

  // Under `prefix`, which is empty or ends in a dot.
  void lay_out(imports::Value root, const std::string& prefix);

 private:
  void visit(imports::Value value, const std::string& section, const std::string& key, int depth);
  void visit_members(imports::Value container, const std::string& section, int depth);
  void visit_object(imports::Value object, const std::string& section, const std::string& key, int depth);
  void add_value(const std::string& name, Scalar value);
  void add_tensor(Tensor tensor, const std::string& section, const std::string& key);
  bool add_numpy(imports::Value object, const std::string& section, const std::string& key);
  Scalar scalar(imports::Value value) const;
  std::string key_text(imports::Value key, std::size_t index) const;

  const imports::PlainData& data_;
  std::size_t file_;
  std::uint64_t budget_;
  AsTensor as_tensor_;
  Checkpoint& to_;
  std::string left_out_;  // the first that was not laid out
};

}  // namespace plumbline::reader
