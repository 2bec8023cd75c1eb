// Captured optimizer steps, put together: of each step of each rank its settings, and of each parameter what was there
// before and after.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checks/optimizer_rules/rule.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

using reader::Capture;

struct BeforeAfter {
  const Capture* before = nullptr;
  const Capture* after = nullptr;
};

struct CapturedParameter {
  std::string name;
  std::size_t group = 0;
  bool requires_grad = true;
  std::string module;             // class of the module that owns it; empty: not known
  const Capture* grad = nullptr;  // null: it had none
  BeforeAfter param;
  std::map<std::string, BeforeAfter, std::less<>> state;

  const Capture* any() const { return param.before != nullptr ? param.before : param.after; }
  // Captured whole or in the same places before and after.
  bool complete() const { return param.before != nullptr && param.after != nullptr; }
};

struct CapturedGroup {
  RuleSettings settings;
  bool fused = false;
  bool capturable = false;
  std::vector<std::string> params;
};

struct CapturedStep {
  int rank = -1;
  std::int64_t step = 0;
  std::uint64_t key = 0;
  std::int64_t ordinal = 0;  // of the optimizer in its process
  std::string class_name;
  std::string module;
  const Capture* note = nullptr;
  std::vector<int> batch_ranks;  // global, that the job's wrappers give parts of one batch; empty: not known
  std::vector<CapturedGroup> groups;
  std::vector<CapturedParameter> parameters;  // in the order of capture
  std::vector<const Capture*> buffers;        // of the models whose parameters it steps, before the step

  const CapturedParameter* find(std::string_view name) const;
  // Of PyTorch itself, whose formulas are known for sure.
  bool of_torch() const { return module.starts_with("torch.optim"); }
};

// By rank, optimizer and step.
std::vector<CapturedStep> captured_steps(const reader::RunCaptures& captures);

// Settings as a rule takes them, from the detail of an `optimizer.group` capture.
CapturedGroup group_of(const std::string& class_name, const std::string& detail);

// A state tensor's one number; NaN when it was not captured or has more elements.
double state_number(reader::RunCaptures& captures, const Capture* capture);

}  // namespace plumbline::checks
