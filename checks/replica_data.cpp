#include "checks/replica_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checks/replica_sets.hpp"

namespace plumbline::checks {
namespace {

bool constant(const RawTensor& tensor) {
  std::vector<double> values;
  tensor.decode(0, tensor.count(), values);
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

}  // namespace

std::size_t examine_data(const Subject& subject, CaptureLoader& loader, const std::vector<int>& ranks,
                         Observations& into) {
  if (ranks.size() < 2) return 0;
  const reader::RunCaptures& captures = subject.captures();
  // Of each pair with the first rank that shares its data: how many batches were alike, and how many were not.
  struct Count {
    std::size_t alike = 0;
    std::size_t apart = 0;
    const Capture* first = nullptr;
  };
  std::map<std::pair<int, int>, Count> pairs;
  std::size_t compared = 0;
  for (const std::int64_t step : captures.steps()) {
    std::map<std::tuple<std::string, std::uint32_t>, std::map<int, const Capture*>> places;
    for (const Capture* capture : captures.select("input_ids", step))
      places[{capture->name, capture->occurrence}].try_emplace(capture->rank, capture);
    for (const auto& [place, by_rank] : places) {
      for (auto a = by_rank.begin(); a != by_rank.end(); ++a) {
        for (auto b = std::next(a); b != by_rank.end(); ++b) {
          const auto among = [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
          if (!among(a->first) || !among(b->first)) continue;
          const Likeness likeness = compare(loader, a->second, b->second);
          Count& count = pairs[{a->first, b->first}];
          // Of different shapes they are different batches.
          if (likeness == Likeness::kUnknown && a->second->shape == b->second->shape) continue;
          ++compared;
          if (likeness != Likeness::kEqual) {
            ++count.apart;
          } else if (!constant(loader.load(a->second))) {
            ++count.alike;
            if (count.first == nullptr) count.first = a->second;
          }
        }
      }
    }
  }
  for (const auto& [ranks_alike, count] : pairs) {
    if (count.alike == 0 || count.apart > 0) continue;
    Observation one;
    one.kind = "same data";
    one.ranks = {ranks_alike.first, ranks_alike.second};
    one.step = count.first->step;
    one.tensor = "input_ids";
    one.words = "are the same on data-parallel ranks: they read the same rows";
    one.details.push_back(fmt::format("ranks {} and {}: {} of {} captured batches are equal", ranks_alike.first,
                                      ranks_alike.second, count.alike, count.alike));
    one.details.emplace_back("the effective batch is smaller by the number of ranks that share their rows");
    one.next = "divide the data by rank: a DistributedSampler, split_dataset_by_node, a seed by rank";
    one.component = "data";
    one.capture = count.first;
    into.add(std::move(one));
  }
  return compared;
}

}  // namespace plumbline::checks
