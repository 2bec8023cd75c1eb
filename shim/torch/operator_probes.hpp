// Probes that sit at operators: cross-entropy and negative log-likelihood, embedding, and those that a template names.
#pragma once

#include <ATen/record_function.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::shim::adapter {

// What the end of an operator needs of its beginning.
struct OperatorProbe {
  std::int64_t step = -1;  // -1: the operator is no probe's place
  bool loss = false;
  bool innermost_loss = false;  // its result has the node that the loss's backward operator runs in
  std::string name;
  std::string probe;  // of the loss: loss or token_loss
  std::uint32_t occurrence = 0;
  std::string detail;
  std::vector<std::size_t> outputs;  // places of the template's, see add_operator_place
};

void begin_operator_probe(const at::RecordFunction& function, OperatorProbe& probe);
void end_operator_probe(const at::RecordFunction& function, OperatorProbe& probe) noexcept;

// Of a template; `selector` is the number of the argument or result, empty: the first tensor. Before operators are
// observed.
void add_operator_place(const std::string& name, const std::string& probe, bool output, const std::string& selector);

}  // namespace plumbline::shim::adapter
