#include "checks/state_checks.hpp"

#include <array>

namespace plumbline::checks {

std::span<const StateCheck> state_checks() {
  static constexpr std::array kChecks = {
      StateCheck{"load", "do the parameters after the load equal the original checkpoint",
                 "a checkpoint saved right after the load, or a run with captures of it; --reference ORIGINAL, and "
                 "--before STATE when the state before the load was saved too",
                 check_load},
      StateCheck{
          "resume", "is the state after the resume the state at the save",
          "the state saved right after the resume, or a run with captures of it; --reference the checkpoint that "
          "was resumed from",
          check_resume},
      StateCheck{"export", "is the exported checkpoint the original, whole and readable",
                 "an exported directory or file, after one step at learning rate 0; --reference ORIGINAL",
                 check_export},
  };
  return kChecks;
}

}  // namespace plumbline::checks
