#include "checks/reduced_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reader/collectives.hpp"

namespace plumbline::checks {
namespace {

bool reduces(reader::Op op) {
  return op == reader::Op::kAllReduce || op == reader::Op::kReduceScatter || op == reader::Op::kReduce;
}

}  // namespace

const std::map<std::int64_t, ReducedElements::Reduced>& ReducedElements::of_rank(int rank) {
  const auto [at, made] = ranks_.try_emplace(rank);
  if (!made) return at->second;
  for (const reader::Trace& trace : subject_.run().traces()) {
    if (trace.rank() != rank) continue;
    for (std::int64_t step = 0; step < static_cast<std::int64_t>(trace.steps().count()); ++step) at->second[step];
    reader::read_collectives(trace, {}, [&](const reader::Collective& call) {
      if (call.parent == 0 && reduces(call.op) && call.step >= 0) {
        Reduced& reduced = at->second[call.step];
        ++reduced.calls;
        reduced.elements += call.count_in;
      }
      return true;
    });
  }
  return at->second;
}

std::string ReducedElements::sentence(int rank, std::int64_t step) {
  const auto& steps = of_rank(rank);
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

}  // namespace plumbline::checks
