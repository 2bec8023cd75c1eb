#include "checks/replica_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "checks/batch_ranks.hpp"

namespace plumbline::checks {
namespace {

bool constant(const RawTensor& tensor) {
  std::vector<double> values;
  tensor.decode(0, tensor.count(), values);
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

class DataExaminer {
 public:
  DataExaminer(const Subject& subject, CaptureLoader& loader) : captures_(subject.captures()), loader_(loader) {}

  DataSeen examine(const std::vector<BatchSet>& sets, Observations& into) {
    DataSeen seen;
    for (const BatchSet& set : sets) {
      for (std::size_t a = 0; a < set.ranks.size(); ++a) {
        for (std::size_t b = a + 1; b < set.ranks.size(); ++b) {
          const Count count = compare_ranks(set.ranks[a], set.ranks[b]);
          seen.compared += count.alike + count.apart;
          if (count.alike == 0 || count.apart > 0) continue;
          // What nobody declares must be sure to learn from the same labels.
          if (!set.declared && count.labels == 0) continue;
          if (repeats(set.ranks[a])) {
            seen.one_batch = true;
          } else {
            report(set, set.ranks[a], set.ranks[b], count, into);
          }
        }
      }
    }
    return seen;
  }

 private:
  struct Count {
    std::size_t alike = 0;
    std::size_t apart = 0;
    std::size_t labels = 0;  // batches of labels that were compared
    const Capture* first = nullptr;
  };

  Count compare_ranks(int a, int b) {
    Count count;
    for (const std::int64_t step : captures_.steps()) {
      for (const Capture* mine : captures_.select("input_ids", step, {}, a)) {
        const Capture* other = captures_.find("input_ids", step, mine->name, b, mine->occurrence);
        if (other == nullptr) continue;
        const Likeness likeness = compare(loader_, mine, other);
        // Of different shapes they are different batches.
        if (likeness == Likeness::kUnknown && mine->shape == other->shape) continue;
        if (likeness != Likeness::kEqual) {
          ++count.apart;
        } else if (!constant(loader_.load(mine))) {
          ++count.alike;
          if (count.first == nullptr) count.first = mine;
        }
      }
      for (const Capture* mine : captures_.select("labels", step, {}, a)) {
        const Capture* other = captures_.find("labels", step, mine->name, b, mine->occurrence);
        if (other == nullptr) continue;
        ++count.labels;
        if (compare(loader_, mine, other) == Likeness::kDifferent || mine->shape != other->shape) ++count.apart;
      }
    }
    return count;
  }

  // Whether a rank reads the same rows in every one of several steps.
  bool repeats(int rank) {
    std::map<std::tuple<std::string, std::uint32_t>, const Capture*> first;
    std::size_t again = 0;
    for (const std::int64_t step : captures_.steps()) {
      for (const Capture* capture : captures_.select("input_ids", step, {}, rank)) {
        const auto [at, made] = first.try_emplace({capture->name, capture->occurrence}, capture);
        if (made) continue;
        if (compare(loader_, at->second, capture) != Likeness::kEqual) return false;
        ++again;
      }
    }
    return again > 0;
  }

  static void report(const BatchSet& set, int a, int b, const Count& count, Observations& into) {
    Observation one;
    one.kind = "same data";
    one.status = set.declared ? Status::kFail : Status::kInconclusive;
    one.ranks = {a, b};
    one.step = count.first->step;
    one.tensor = "input_ids";
    one.words = set.declared ? "are the same on data-parallel ranks: they read the same rows"
                             : "are the same on ranks that hold the same model: they read the same rows";
    one.details.push_back(
        fmt::format("ranks {} and {}: {} of {} captured batches are equal", a, b, count.alike, count.alike));
    one.details.emplace_back("the effective batch is smaller by the number of ranks that share their rows");
    one.next = "divide the data by rank: a DistributedSampler, split_dataset_by_node, a seed by rank";
    one.component = "data";
    one.capture = count.first;
    into.add(std::move(one));
  }

  const reader::RunCaptures& captures_;
  CaptureLoader& loader_;
};

}  // namespace

std::vector<BatchSet> sharers_of_batch(const std::vector<CapturedStep>& steps, const std::vector<ReplicaSet>& sets) {
  std::vector<BatchSet> result;
  for (std::vector<int>& ranks : batch_sets(steps)) result.push_back({std::move(ranks), true});
  if (!result.empty()) return result;
  std::map<std::vector<int>, std::set<std::string>> held;
  for (const ReplicaSet& set : sets) held[set.ranks].insert(set.name);
  for (const auto& [ranks, held_names] : held) {
    const auto has_all = [first = ranks.front(), &names = held_names](const CapturedStep& step) {
      return step.rank != first ||
             std::all_of(step.parameters.begin(), step.parameters.end(), [&](const CapturedParameter& one) {
               return one.any() == nullptr || one.any()->shape.size() < 2 || names.contains(one.name);
             });
    };
    if (std::all_of(steps.begin(), steps.end(), has_all)) result.push_back({ranks, false});
  }
  return result;
}

DataSeen examine_data(const Subject& subject, CaptureLoader& loader, const std::vector<BatchSet>& sets,
                      Observations& into) {
  return DataExaminer(subject, loader).examine(sets, into);
}

}  // namespace plumbline::checks
