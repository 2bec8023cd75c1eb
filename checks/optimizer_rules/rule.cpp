#include "checks/optimizer_rules/rule.hpp"

#include <algorithm>

namespace plumbline::checks {

const Rule* rule_for(std::string_view class_name) {
  struct Named {
    std::string_view name;
    const Rule* rule;
  };
  // Others' classes by the names that they are known under. Where a class says neither, the weight decay of the fused
  // ones is decoupled.
  static constexpr Named kNames[] = {
      {"SGD", &kSgd},
      {"FusedSGD", &kSgd},
      {"Adam", &kAdam},
      {"AdamW", &kAdamW},
      {"FusedAdam", &kAdamW},
      {"Adagrad", &kAdagrad},
      {"RMSprop", &kRmsProp},
      {"Lion", &kLion},
      {"FusedAdagrad", &kAdagrad},
      {"NAdam", &kNAdam},
      {"RAdam", &kRAdam},
      {"Adafactor", &kAdafactor},
      {"Muon", &kMuon},
      {"DeepSpeedCPUAdam", &kAdamW},
  };
  const auto* const at =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const Named& one) { return one.name == class_name; });
  return at != std::end(kNames) ? at->rule : nullptr;
}

}  // namespace plumbline::checks
