#include "reader/export/flows.hpp"

#include "reader/match.hpp"

namespace plumbline::reader {

Flows::Flows(const Run& run) : flow_of_call_(run.traces().size()) {
  std::uint64_t last = 0;
  for (int attempt = 0; attempt <= run.last_attempt(); ++attempt) {
    MatchOptions options;
    options.attempt = attempt;
    match_collectives(run, options, [&](const MatchedCollective& match) {
      std::size_t present = 0;
      for (const MatchedMember& member : match.members) present += member.present;
      if (present < 2) return true;
      ++last;
      for (const MatchedMember& member : match.members) {
        if (member.present) flow_of_call_[member.trace][member.collective.id] = last;
      }
      return true;
    });
  }
}

std::uint64_t Flows::of(std::size_t trace, std::uint64_t call_id) const {
  const auto& flows = flow_of_call_[trace];
  const auto at = flows.find(call_id);
  return at == flows.end() ? 0 : at->second;
}

}  // namespace plumbline::reader
