#include "checks/check.hpp"

#include <array>

#include "checks/capture_losses.hpp"
#include "checks/collective_results.hpp"
#include "checks/coverage.hpp"
#include "checks/crash.hpp"
#include "checks/data.hpp"
#include "checks/hang.hpp"
#include "checks/loss.hpp"
#include "checks/memory.hpp"
#include "checks/mismatch.hpp"
#include "checks/optimizer.hpp"
#include "checks/replicas.hpp"
#include "checks/straggler_lasting.hpp"

namespace plumbline::checks {

std::span<const Check> all_checks() {
  static constexpr std::array kChecks = {
      Check{"hang", "does any rank wait for others that do not come", check_hang},
      Check{"mismatch", "did the ranks of a group call the same thing", check_mismatch},
      Check{"memory", "was every request for memory granted, and does what is held stop growing", check_memory},
      Check{"straggler", "does a rank keep the others waiting for long, or did steps become slower",
            check_lasting_straggler},
      Check{"crash", "which process ended first by its own doing", check_crash},
      Check{"optimizer", "is each update what gradient, state and settings give", check_optimizer, true},
      Check{"replicas", "does what must agree over a group agree, and differ what must differ", check_replicas, true},
      Check{"loss", "is the loss the mean cross-entropy over the supervised tokens", check_loss, true},
      Check{"data", "do rows begin and are they labelled as a model can learn from", check_data, true},
      Check{"collective_results", "does each collective leave what the ranks gave, moved or reduced",
            check_collective_results, true},
      Check{"coverage", "what can these traces not answer", check_coverage},
  };
  return kChecks;
}

Verdict evaluate(const Check& check, const Subject& subject) {
  Verdict verdict = check.evaluate(subject);
  if (check.of_captures) qualify(verdict, capture_losses(subject));
  return verdict;
}

}  // namespace plumbline::checks
