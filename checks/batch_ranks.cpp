#include "checks/batch_ranks.hpp"

#include <map>
#include <utility>

namespace plumbline::checks {

std::vector<std::vector<int>> batch_sets(const std::vector<CapturedStep>& steps) {
  std::map<int, int> leaders;  // of each rank another one of its set; at the end of the chain the set's own
  const auto leader = [&](int rank) {
    int at = rank;
    while (leaders.try_emplace(at, at).first->second != at) at = leaders.at(at);
    return at;
  };
  for (const CapturedStep& step : steps) {
    for (const int rank : step.batch_ranks) leaders[leader(rank)] = leader(step.rank);
  }
  std::map<int, std::vector<int>> sets;
  for (const auto& [rank, next] : leaders) sets[leader(rank)].push_back(rank);
  std::vector<std::vector<int>> result;
  for (auto& [first, ranks] : sets) {
    if (ranks.size() > 1) result.push_back(std::move(ranks));
  }
  return result;
}

}  // namespace plumbline::checks
