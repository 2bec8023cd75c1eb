// Checks of states against states: parameters after a load, a state after a resume, an exported checkpoint. They look
// at views, and neither know nor care whether these were files or captures of a run.
//
//   const StateInputs inputs{&exported, &original};
//   report(check_export(inputs));
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checks/verdict.hpp"
#include "reader/checkpoint/checkpoint.hpp"

namespace plumbline::checks {

struct StateInputs {
  const reader::Checkpoint* subject = nullptr;    // what is judged
  const reader::Checkpoint* reference = nullptr;  // what it must be
  const reader::Checkpoint* before = nullptr;     // of load: the state before the load; may be absent
  // Of load: tensors of the subject that a template has no name for, though it has names for others.
  std::vector<std::string> unnamed{};
};

Verdict check_load(const StateInputs& inputs);
Verdict check_resume(const StateInputs& inputs);
Verdict check_export(const StateInputs& inputs);

struct StateCheck {
  std::string_view name;
  std::string_view question;
  std::string_view needs;
  Verdict (*evaluate)(const StateInputs& inputs);
};

std::span<const StateCheck> state_checks();

}  // namespace plumbline::checks
