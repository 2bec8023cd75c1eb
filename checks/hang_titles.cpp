#include "checks/hang_titles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checks/call_text.hpp"
#include "checks/hang_words.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/call_terms.hpp"

namespace plumbline::checks {
namespace {

std::string what_of(const HangScene& scene, const OpenOp& op) {
  return fmt::format("{} of {}", op_name(op), front_place(scene.front_of(op)));
}

// What each of the differing calls was, and on which ranks.
std::string mismatch_title(const HangScene& scene, const OpenOp& op) {
  std::vector<std::pair<const reader::Collective*, std::vector<std::int32_t>>> kinds;
  for (const Party& party : op.parties) {
    if (party.call == nullptr) continue;
    const auto alike = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
      return reader::call_terms(*kind.first) == reader::call_terms(*party.call);
    });
    if (alike == kinds.end()) {
      kinds.push_back({party.call, {party.rank}});
    } else {
      alike->second.push_back(party.rank);
    }
  }
  std::string calls;
  for (const auto& [call, ranks] : kinds) {
    calls += fmt::format("{}{} called {}", calls.empty() ? "" : ", ", ranks_phrase(ranks), call_text(*call));
  }
  return fmt::format("different calls as #{} of {}: {}", op.seq, front_place(scene.front_of(op)), calls);
}

std::string absent_title(const HangScene& scene, const Judgement& judgement) {
  const OpenOp& op = *judgement.op;
  const std::vector<std::int32_t> guilty = ranks_of(judgement.guilty);
  if (op.point_to_point) {
    const bool missing_receiver = op.parties[1].rank == guilty.front();
    const reader::Collective* call = op.example();
    return fmt::format("rank {} never {} what rank {} {} it in {} (tag {})", guilty.front(),
                       missing_receiver ? "received" : "sent", op.parties[missing_receiver ? 0 : 1].rank,
                       missing_receiver ? "sends to" : "receives from", scene.front_of(op).name,
                       call != nullptr ? call->tensor_tag : 0);
  }
  if (judgement.rests_on_absence()) {
    return fmt::format("{}, of which there is no trace, may have never joined {}{}", ranks_phrase(guilty),
                       what_of(scene, op), others_clause(op, guilty));
  }
  return fmt::format("{} never joined {}{}", ranks_phrase(guilty), what_of(scene, op), others_clause(op, guilty));
}

std::string open_title(const HangScene& scene, const Judgement& judgement) {
  const OpenOp& op = *judgement.op;
  const std::vector<std::int32_t> guilty = ranks_of(judgement.guilty);
  const std::string what = what_of(scene, op);
  switch (judgement.blame.cause) {
    case Cause::kMismatch:
      return mismatch_title(scene, op);
    case Cause::kEndedInside:
      return fmt::format("{} ended inside {}{}", ranks_phrase(guilty), what, others_clause(op, guilty));
    case Cause::kRaised:
      return fmt::format("{} raised an error on {}{}", what, ranks_phrase(guilty), others_clause(op, guilty));
    case Cause::kUnfinished:
      return fmt::format("{} did not finish {}, which {} did", ranks_phrase(guilty), what,
                         ranks_phrase(ranks_of(op.with(Standing::kFinished))));
    case Cause::kNotKnown:
      break;
  }
  if (const auto failed = ranks_of(op.with(Standing::kFailed)); !failed.empty()) {
    return fmt::format("{} failed on {}{}", what, ranks_phrase(failed),
                       op.with(Standing::kWaiting).empty() ? "" : "; others wait in it");
  }
  return fmt::format("{} did not finish on {}; no rank with a trace is missing in it", what,
                     ranks_phrase(ranks_of(op.with(Standing::kWaiting))));
}

std::string circle_title(const HangScene& scene, const Judgement& judgement) {
  const Root& root = *judgement.root;
  std::string calls;
  constexpr std::size_t kShown = 4;
  std::size_t shown = 0;
  for (const std::int32_t rank : root.ranks) {
    const OpenOp* op = scene.graph.blocked_in(rank);
    if (op == nullptr) continue;
    if (shown++ == kShown) {
      calls += ", ..";
      break;
    }
    if (shown > 1) calls += ", ";
    if (!op->point_to_point) {
      calls += fmt::format("rank {} is in {} of {}", rank, op_name(*op), scene.front_of(*op).name);
    } else if (op->parties[0].rank == rank) {
      calls += fmt::format("rank {} sends to {}", rank, op->parties[1].rank);
    } else {
      calls += fmt::format("rank {} receives from {}", rank, op->parties[0].rank);
    }
  }
  std::string circle = fmt::format("{} wait for each other in a circle: {}", ranks_phrase(root.ranks), calls);
  if (judgement.strayed.empty()) return circle;
  if (judgement.op->point_to_point)
    return fmt::format("{} left the path of the steps before: {}", ranks_phrase(judgement.strayed), circle);
  return fmt::format("{} left the path of the steps before and never joined {}: {}", ranks_phrase(judgement.strayed),
                     what_of(scene, *judgement.op), circle);
}

std::string circle_next(const HangScene& scene, const Judgement& judgement) {
  const Root& root = *judgement.root;
  const bool messages_only = std::all_of(root.ranks.begin(), root.ranks.end(), [&](std::int32_t rank) {
    const OpenOp* op = scene.graph.blocked_in(rank);
    return op != nullptr && op->point_to_point;
  });
  if (!messages_only && !judgement.strayed.empty()) {
    return fmt::format("find the condition by which {} did not come to {}", ranks_phrase(judgement.strayed),
                       op_name(*judgement.op));
  }
  if (!messages_only) return "let all ranks call the collectives of groups that overlap in the same order";
  const bool all_receive = std::all_of(root.ranks.begin(), root.ranks.end(), [&](std::int32_t rank) {
    const OpenOp* op = scene.graph.blocked_in(rank);
    return op != nullptr && op->point_to_point && op->parties[1].rank == rank;
  });
  if (all_receive) {
    return "let one of them send first: with fewer micro-batches than stages, or a schedule that differs by rank, all "
           "of them receive";
  }
  return "let one of the ranks receive before it sends, or post both with batch_isend_irecv";
}

std::string open_next(const Judgement& judgement) {
  switch (judgement.blame.cause) {
    case Cause::kMismatch:
      return "run once with TORCH_DISTRIBUTED_DEBUG=DETAIL: it stops at the first call that differs";
    case Cause::kUnfinished:
      return fmt::format("look at the devices and the kernel log of {}", ranks_phrase(judgement.ranks()));
    case Cause::kEndedInside:
    case Cause::kRaised:
      return fmt::format("read the error of {}", ranks_phrase(judgement.ranks()));
    case Cause::kNotKnown:
      break;
  }
  if (const auto failed = ranks_of(judgement.op->with(Standing::kFailed)); !failed.empty())
    return fmt::format("read the error of {}", ranks_phrase(failed));
  return "check network and devices of these ranks (ncclras, nvidia-smi, kernel log): the code is in step";
}

// What to do about a rank that others wait for.
std::string absent_next(const HangScene& scene, const Party& party) {
  if (party.standing == Standing::kNoTrace) return fmt::format("find out how rank {} fared", party.rank);
  const Ending& ending = scene.subject.ending(party.trace);
  const reader::Trace& trace = scene.trace_of(party);
  if (const reader::Stack* stack = stack_since(trace, 0)) {
    const std::string line = script_line(*stack);
    return fmt::format("see what rank {} waits for at {}", party.rank, line.empty() ? stack_text(*stack) : line);
  }
  if (ending.kind == EndingKind::kClean) {
    const std::string steps = steps_done(trace);
    return fmt::format(
        "print the number of batches on each rank (length of the loader, drop_last, uneven data): rank {} ended by "
        "itself after {}",
        party.rank, steps.empty() ? "its last call" : steps);
  }
  if (ending.kind == EndingKind::kRunning) {
    return fmt::format("py-spy dump --pid {} on {}: where rank {} stands", trace.pid(), trace.host(), party.rank);
  }
  if (ending.bad_by_itself() && ending.kind != EndingKind::kKilled) {
    return fmt::format("read the error of rank {}", party.rank);
  }
  return fmt::format("run again, and while it hangs: py-spy dump on rank {}", party.rank);
}

}  // namespace

std::string hang_title(const HangScene& scene, const Judgement& judgement) {
  switch (judgement.root->kind) {
    case RootKind::kAbsent:
      return absent_title(scene, judgement);
    case RootKind::kCircle:
      return circle_title(scene, judgement);
    case RootKind::kOpen:
      break;
  }
  return open_title(scene, judgement);
}

std::string hang_next(const HangScene& scene, const Judgement& judgement) {
  switch (judgement.root->kind) {
    case RootKind::kCircle:
      return circle_next(scene, judgement);
    case RootKind::kOpen:
      return open_next(judgement);
    case RootKind::kAbsent:
      break;
  }
  return absent_next(scene, *judgement.guilty.front());
}

}  // namespace plumbline::checks
