// Why an update is not the one that its settings say: suppositions, each tried on all elements of the parameter and its
// state. One is named only when it explains every one of them within the bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

// A value of a setting seen elsewhere, and where: "group 1", "step 3".
struct KnownValue {
  double value = 0;
  std::string where;
};

struct HypothesisContext {
  std::vector<KnownValue> learning_rates;
  std::vector<KnownValue> counters;  // of other parameters, for their bias correction
  const RawTensor* previous_grad = nullptr;
};

struct Explanation {
  std::string kind;   // findings of one kind are one
  std::string words;  // a clause whose subject is the parameter
  std::string next;
  bool of_formula = false;  // an optimizer of the same name may be meant to update so
};

std::optional<Explanation> explain(const ParameterData& data, const ParameterOutcome& outcome,
                                   const HypothesisContext& context);

}  // namespace plumbline::checks
