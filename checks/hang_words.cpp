#include "checks/hang_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checks/call_text.hpp"
#include "checks/last_activity.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

std::string ended_clause(const HangScene& scene, const Party& party) {
  const Ending& ending = scene.subject.ending(party.trace);
  std::string clause = "; it " + ending.clause;
  if (ending.ended()) {
    clause += fmt::format("{} at {}", ending.kind == EndingKind::kKilled ? ", last seen" : "",
                          time_text(scene.subject.seconds(party.trace, ending.time_ns)));
  }
  return clause;
}

std::string number_text(std::int64_t number) { return number < 0 ? "none" : fmt::format("#{}", number); }

// Where only the numbers of a rank's calls are known.
std::string counts_text(const GroupFront& front, const Party& party) {
  const FrontMember* member = front.member(party.rank);
  return fmt::format("rank {} called {} last and finished {}: of its calls nothing else was recorded", party.rank,
                     number_text(member->enqueued), number_text(member->completed));
}

// Are only the numbers of this rank's calls in the group known?
bool counted_only(const GroupFront& front, const Party& party) {
  const FrontMember* member = front.member(party.rank);
  return member != nullptr && member->counts_only;
}

std::string site_clause(const std::string& site) { return site.empty() ? "" : " at " + site; }

}  // namespace

std::string with_verb(const std::vector<std::int32_t>& ranks, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", ranks_phrase(ranks), ranks.size() == 1 ? one : many);
}

std::string op_name(const OpenOp& op) {
  const reader::Collective* call = op.example();
  if (op.point_to_point) {
    return fmt::format("message #{} from rank {} to rank {}", op.seq, op.parties[0].rank, op.parties[1].rank);
  }
  return call != nullptr ? call_name(*call) : fmt::format("collective #{}", op.seq);
}

std::string front_place(const GroupFront& front) {
  return fmt::format("{} ({})", front.name, ranks_phrase(front.ranks()));
}

std::string others_clause(const OpenOp& op, const std::vector<std::int32_t>& guilty) {
  const auto without_guilty = [&](Standing standing) {
    std::vector<std::int32_t> ranks;
    for (const Party* party : op.with(standing)) {
      if (std::find(guilty.begin(), guilty.end(), party->rank) == guilty.end()) ranks.push_back(party->rank);
    }
    return ranks;
  };
  std::string clause;
  if (const auto waiting = without_guilty(Standing::kWaiting); !waiting.empty()) {
    clause += "; " + with_verb(waiting, "waits in it", "wait in it");
  }
  if (const auto failed = without_guilty(Standing::kFailed); !failed.empty()) {
    clause += "; it failed on " + ranks_phrase(failed);
  }
  if (clause.empty()) {
    const auto finished = without_guilty(Standing::kFinished);
    if (!finished.empty()) clause = "; " + with_verb(finished, "finished without it", "finished without it");
  }
  return clause;
}

std::string guilty_line(const HangScene& scene, const OpenOp& op, const Party& party) {
  if (party.standing == Standing::kNoTrace) return fmt::format("rank {} left no trace", party.rank);
  if (counted_only(scene.front_of(op), party)) return counts_text(scene.front_of(op), party);
  const OpenOp* own = scene.graph.blocked_in(party.rank);
  const reader::Trace& trace = scene.trace_of(party);
  std::string line;
  LastActivity activity;
  if (party.standing == Standing::kAbsent) {
    activity = last_activity(trace, 0);
    line = fmt::format("rank {} did last: {}", party.rank, last_activity_text(scene.subject, party.trace, activity));
  } else if (party.call != nullptr) {
    line = fmt::format("rank {} called {} at {}{}", party.rank, call_text(*party.call),
                       time_text(scene.subject.seconds(party.trace, party.call->enqueue_ns)),
                       site_clause(site_text(trace, *party.call)));
  } else {
    line = fmt::format("rank {}", party.rank);
  }
  line += ended_clause(scene, party);
  if (own != nullptr && party.standing == Standing::kAbsent) {
    line += fmt::format("; it is itself inside {} of {}", op_name(*own), scene.front_of(*own).name);
  } else if (activity.open_collective) {
    const reader::Group* group = trace.group(activity.open_collective->group);
    line += fmt::format("; {} is under way on it",
                        call_name(*activity.open_collective) + (group != nullptr ? " of " + group_name(*group) : ""));
  }
  return line;
}

std::string waiting_line(const HangScene& scene, const Party& party) {
  if (party.call == nullptr) return fmt::format("rank {} waits in it", party.rank);
  const reader::Trace& trace = scene.trace_of(party);
  const reader::Collective& call = *party.call;
  const Ending& ending = scene.subject.ending(party.trace);
  const std::uint64_t until = std::max(ending.time_ns, trace.last_ns());
  std::string line =
      fmt::format("rank {} {} {} since {}", party.rank, party.standing == Standing::kFailed ? "failed in" : "waits in",
                  call_text(call), time_text(scene.subject.seconds(party.trace, call.enqueue_ns)));
  if (party.standing == Standing::kFailed) {
    if (call.end_ns > call.enqueue_ns) line += fmt::format(" (after {})", duration_text(call.end_ns - call.enqueue_ns));
  } else if (until > call.enqueue_ns) {
    line += fmt::format(" (for {})", duration_text(until - call.enqueue_ns));
  }
  line += step_clause(trace, call.enqueue_ns);
  const LastActivity activity = last_activity(trace, call.enqueue_ns);
  if (activity.open_range) line += fmt::format(", inside {}", trace.text(activity.open_range->name));
  if (call.wait_ns != 0 && call.wait_end_ns == 0) line += ", in Work.wait()";
  return line + fmt::format("; it {}", ending.brief);
}

std::string wavefront_line(const GroupFront& front) {
  std::map<std::tuple<bool, std::int64_t, std::int64_t, std::int64_t>, std::vector<std::int32_t>> places;
  for (const FrontMember& member : front.members) {
    places[{member.has_trace, member.enqueued, member.started, member.completed}].push_back(member.rank);
  }
  constexpr std::size_t kShown = 4;
  std::string text = fmt::format("wavefront of {}: ", front.name);
  std::size_t shown = 0;
  for (const auto& [place, ranks] : places) {
    if (shown++ == kShown) return text + fmt::format("; and {} other places", places.size() - kShown);
    if (shown > 1) text += "; ";
    const auto& [has_trace, enqueued, started, completed] = place;
    text += ranks_phrase(ranks);
    if (!has_trace) {
      text += " left no trace";
    } else if (enqueued < 0) {
      text += " called nothing";
    } else if (enqueued == completed) {
      text += fmt::format(" called and finished {}", number_text(enqueued));
    } else {
      text += fmt::format(" called {}, finished {}", number_text(enqueued), number_text(completed));
    }
  }
  return text;
}

std::string line_clause(const HangScene& scene, const Party& party, std::string_view verb) {
  if (party.standing == Standing::kNoTrace) return {};
  const reader::Trace& trace = scene.trace_of(party);
  const OpenOp* own = scene.graph.blocked_in(party.rank);
  const reader::Collective* call = party.call;
  if (call == nullptr && own != nullptr) {
    for (const Party& one : own->parties) {
      if (one.rank == party.rank) call = one.call;
    }
  }
  if (const reader::Stack* stack = stack_since(trace, call != nullptr ? call->enqueue_ns : 0)) {
    if (const std::string line = script_line(*stack); !line.empty()) return fmt::format("{} {}", verb, line);
  }
  if (call != nullptr) {
    const std::string site = site_text(trace, *call);
    return site.empty() ? site : fmt::format("{} {}", verb, site);
  }
  const LastActivity activity = last_activity(trace, 0);
  if (!activity.ended_collective || activity.ended_collective->site == 0) return {};
  return "called last at " + site_text(trace, *activity.ended_collective);
}

std::string age_text(const HangScene& scene, const OpenOp& op) {
  return fmt::format("since {}, for {}", time_text(reader::RunClock::seconds(op.since_ns)),
                     duration_text(scene.patience.age(op.since_ns)));
}

}  // namespace plumbline::checks
