#include "checks/reduced_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "checks/call_text.hpp"
#include "checks/words.hpp"
#include "reader/collectives.hpp"

namespace plumbline::checks {
namespace {

bool reduces(reader::Op op) {
  return op == reader::Op::kAllReduce || op == reader::Op::kReduceScatter || op == reader::Op::kReduce;
}

}  // namespace

const ReducedElements::OfRank& ReducedElements::of_rank(int rank) {
  const auto [at, made] = ranks_.try_emplace(rank);
  OfRank& found = at->second;
  if (!made) return found;
  for (const reader::Trace& trace : subject_.run().traces()) {
    if (trace.rank() != rank) continue;
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(trace.steps().count()); ++step) found.steps[step];
    reader::read_collectives(trace, {}, [&](const reader::Collective& call) {
      if (call.parent != 0 || !reduces(call.op)) return true;
      found.calls.push_back({call.enqueue_ns, call.count_in});
      if (call.step >= 0) {
        Reduced& reduced = found.steps[call.step];
        ++reduced.calls;
        reduced.elements += call.count_in;
      }
      return true;
    });
  }
  return found;
}

std::string ReducedElements::sentence(int rank, std::int64_t step) {
  const auto& steps = of_rank(rank).steps;
  const auto at = steps.find(step);
  if (at == steps.end()) return {};
  const Reduced& here = at->second;
  std::string text =
      here.calls == 0
          ? fmt::format("rank {} called no all_reduce and no reduce_scatter in step {}", rank, step)
          : fmt::format("rank {} reduced {} elements in {} calls in step {}", rank, here.elements, here.calls, step);
  // What most of the other steps did.
  std::vector<Reduced> others;
  for (const auto& [other, reduced] : steps) {
    if (other != step) others.push_back(reduced);
  }
  for (const Reduced& one : others) {
    const auto same = std::count(others.begin(), others.end(), one);
    if (static_cast<std::size_t>(same) * 2 <= others.size()) continue;
    text += one == here ? ", as in its other steps"
                        : fmt::format("; in most of its other steps {} elements in {} calls", one.elements, one.calls);
    break;
  }
  return text;
}

std::uint64_t ReducedElements::between(int rank, std::uint64_t from_ns, std::uint64_t to_ns) {
  std::uint64_t elements = 0;
  for (const Call& call : of_rank(rank).calls) {
    if (call.time_ns >= from_ns && call.time_ns < to_ns) elements += call.elements;
  }
  return elements;
}

std::vector<std::string> ReducedElements::missing(const std::vector<int>& ranks, std::int64_t step,
                                                  std::uint64_t elements) {
  for (const reader::Trace& trace : subject_.run().traces()) {
    if (trace.rank() != ranks.front()) continue;
    const reader::Group* group = nullptr;
    for (const reader::Group& one : trace.definitions().groups) {
      std::vector<int> members = one.ranks;
      std::sort(members.begin(), members.end());
      if (members == ranks) group = &one;
    }
    if (group == nullptr) continue;
    const std::string name = fmt::format("{}, {}", group_name(*group), ranks_phrase(ranks));
    std::map<std::uint64_t, std::size_t> sizes;
    reader::read_collectives(trace, {}, [&](const reader::Collective& call) {
      if (call.parent == 0 && reduces(call.op) && call.step == step && call.group == group->id) ++sizes[call.count_in];
      return true;
    });
    std::string did;
    for (const auto& [size, count] : sizes)
      did += fmt::format("{}{} elements{}", did.empty() ? "" : ", ", size,
                         count > 1 ? fmt::format(" {} times", count) : "");
    return {fmt::format("missing for it: an all_reduce of its {} elements over {}", elements, name),
            did.empty() ? fmt::format("rank {} reduced nothing over that group in step {}", ranks.front(), step)
                        : fmt::format("over that group rank {} reduced in step {}: {}", ranks.front(), step, did)};
  }
  return {};
}

}  // namespace plumbline::checks
