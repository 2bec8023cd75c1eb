#include "checks/replica_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "checks/detail.hpp"
#include "checks/element_values.hpp"
#include "checks/optimizer_groups.hpp"

namespace plumbline::checks {
namespace {

// One buffer on one rank, in the order of the steps of the optimizer that looks at it.
using Series = std::vector<const Capture*>;
using ByRank = std::map<int, Series>;

class BufferExaminer {
 public:
  explicit BufferExaminer(CaptureLoader& loader) : loader_(loader) {}

  std::size_t examine(const std::vector<CapturedStep>& steps, const std::vector<BatchSet>& sets, Observations& into) {
    std::map<std::pair<std::string, std::string>, ByRank> buffers;
    for (const CapturedStep& step : steps) {
      for (const Capture* one : step.buffers) buffers[{component_of(step), one->name}][step.rank].push_back(one);
    }
    std::size_t compared = 0;
    for (const auto& [place, by_rank] : buffers) {
      if (!is_constant(by_rank)) continue;
      for (const BatchSet& set : sets_of(by_rank, sets))
        compared += compare_over(place.first, by_rank, set, into) ? 1U : 0U;
    }
    return compared;
  }

 private:
  // On each rank it was there in two steps, and the same in all.
  bool is_constant(const ByRank& by_rank) {
    return std::all_of(by_rank.begin(), by_rank.end(), [&](const auto& one) {
      const Series& series = one.second;
      return series.size() > 1 && std::all_of(series.begin() + 1, series.end(), [&](const Capture* later) {
               return compare(loader_, later, series.front()) == Likeness::kEqual;
             });
    });
  }

  static std::vector<BatchSet> sets_of(const ByRank& by_rank, const std::vector<BatchSet>& sets) {
    std::set<std::vector<int>> declared;
    for (const auto& [rank, series] : by_rank) {
      const std::vector<std::int32_t>& replicas = series.front()->replicas;
      if (replicas.size() > 1) declared.insert({replicas.begin(), replicas.end()});
    }
    if (!declared.empty()) {
      std::vector<BatchSet> found;
      found.reserve(declared.size());
      for (const std::vector<int>& ranks : declared) found.push_back({ranks, true});
      return found;
    }
    std::vector<BatchSet> undeclared;
    for (const BatchSet& set : sets) {
      if (!set.declared) undeclared.push_back(set);
    }
    return undeclared;
  }

  bool compare_over(const std::string& component, const ByRank& by_rank, const BatchSet& set, Observations& into) {
    const Capture* first = nullptr;
    bool compared = false;
    for (const int rank : set.ranks) {
      const auto at = by_rank.find(rank);
      if (at == by_rank.end()) continue;
      const Capture* mine = at->second.front();
      if (first == nullptr) first = mine;
      if (mine == first || mine->shape != first->shape) continue;
      const Likeness likeness = compare(loader_, first, mine);
      compared = compared || likeness != Likeness::kUnknown;
      if (likeness != Likeness::kDifferent) continue;
      report(component, set, *first, *mine, into);
      break;
    }
    return compared;
  }

  void report(const std::string& component, const BatchSet& set, const Capture& a, const Capture& b,
              Observations& into) {
    Observation one;
    one.kind = "buffer";
    // A whole number may be the rank's own: its number, an offset of its part.
    one.status = set.declared && is_floating(a.dtype) ? Status::kFail : Status::kInconclusive;
    one.ranks = set.ranks;
    one.step = b.step;
    one.tensor = a.name;
    one.words = "is a buffer with other values on its replicas, and does not change with the batch";
    const std::vector<double> x = loader_.values(&a);
    const std::vector<double> y = loader_.values(&b);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      if (x[i] == y[i]) continue;
      const std::uint64_t place = a.indices.empty() ? i : a.indices[i];
      one.details.push_back(
          fmt::format("element {}: {:g} on rank {}, {:g} on rank {}", place, x[i], a.rank, y[i], b.rank));
      break;
    }
    if (const std::string module = Detail(a.detail).text("module"); !module.empty())
      one.details.push_back("it belongs to a module of the class " + module);
    if (!set.declared) one.details.emplace_back("no wrapper declares it a replica; the ranks hold the same model");
    one.next =
        "make it alike on all ranks, or broadcast it once: DistributedDataParallel does so before training and, "
        "with broadcast_buffers, at each forward";
    one.component = component;
    one.capture = &b;
    into.add(std::move(one));
  }

  CaptureLoader& loader_;
};

}  // namespace

std::size_t examine_buffers(const std::vector<CapturedStep>& steps, CaptureLoader& loader,
                            const std::vector<BatchSet>& sets, Observations& into) {
  return BufferExaminer(loader).examine(steps, sets, into);
}

}  // namespace plumbline::checks
