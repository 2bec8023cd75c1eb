#include "checks/check.hpp"

#include <fmt/format.h>

#include <array>

#include "checks/attempt_verdicts.hpp"
#include "checks/capture_doubts.hpp"
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
#include "checks/words.hpp"

namespace plumbline::checks {

namespace {

// What is said of captures that are still being written holds for those that are there.
std::string running_text(const Subject& subject) {
  std::vector<std::int32_t> ranks;
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) {
    if (subject.ending(index).kind == EndingKind::kRunning) ranks.push_back(subject.run().traces()[index].rank());
  }
  return ranks.empty() ? std::string()
                       : fmt::format("what {} will capture from now on: still at work", ranks_phrase(ranks));
}

}  // namespace

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

bool applies(const Check& check, const Subject& subject) {
  return !check.of_captures || !subject.capture_sets().all.empty() || !capture_losses(subject).empty();
}

Verdict evaluate(const Check& check, const Subject& subject) {
  if (!check.of_captures) return check.evaluate(subject);
  const std::vector<reader::CaptureSet>& sets = subject.capture_sets().all;
  Verdict verdict;
  if (sets.empty()) {
    verdict = check.evaluate(subject);
  } else {
    std::vector<AttemptVerdict> verdicts;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      subject.look_at(set);
      AttemptVerdict one{capture_set_label(subject, set), check.evaluate(subject)};
      leave_open(one.verdict, "the ranks' captures do not go together", capture_doubts(subject, sets[set]));
      verdicts.push_back(std::move(one));
    }
    subject.look_at(subject.capture_sets().main());
    verdict = over_attempts(std::move(verdicts));
  }
  qualify(verdict, capture_losses(subject));
  if (std::string running = running_text(subject); !sets.empty() && !running.empty())
    verdict.unknown.push_back(std::move(running));
  return verdict;
}

}  // namespace plumbline::checks
