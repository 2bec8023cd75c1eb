#include "checks/replica_sets.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace plumbline::checks {
namespace {

struct Holder {
  int rank = -1;
  const Capture* capture = nullptr;
  std::string module;
};

bool constant(CaptureLoader& loader, const Capture& capture) {
  const RawTensor tensor = loader.load(&capture);
  const std::size_t count = tensor.count();
  if (count < 2) return true;
  std::vector<double> values;
  tensor.decode(0, count, values);
  return std::all_of(values.begin(), values.end(), [&](double value) { return value == values.front(); });
}

// Holders that have the same bits, two or more each.
std::vector<std::vector<Holder>> equal_ones(CaptureLoader& loader, const std::vector<Holder>& holders) {
  std::vector<std::vector<Holder>> classes;
  for (const Holder& holder : holders) {
    const auto at = std::find_if(classes.begin(), classes.end(), [&](const std::vector<Holder>& one) {
      return compare(loader, one.front().capture, holder.capture) == Likeness::kEqual;
    });
    if (at != classes.end()) {
      at->push_back(holder);
    } else {
      classes.push_back({holder});
    }
  }
  std::erase_if(classes, [](const std::vector<Holder>& one) { return one.size() < 2; });
  return classes;
}

std::vector<int> ranks_of(const std::vector<Holder>& holders) {
  std::vector<int> ranks;
  for (const Holder& holder : holders) ranks.push_back(holder.rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

bool declares_data_parallel(const Capture& capture) {
  const std::string& placement = capture.placement;
  return placement.empty() || placement == "replicated" || placement.find("DDP") != std::string::npos ||
         placement.find("DistributedDataParallel") != std::string::npos;
}

}  // namespace

Likeness compare(CaptureLoader& loader, const Capture* a, const Capture* b) {
  if (a == nullptr || b == nullptr || a->dtype != b->dtype || a->shape != b->shape) return Likeness::kUnknown;
  if (a->hash_kind != reader::CaptureHash::kNone && a->hash_kind == b->hash_kind)
    return a->hash == b->hash ? Likeness::kEqual : Likeness::kDifferent;
  if (a->captured() == 0 || a->captured() != b->captured() || a->indices != b->indices) return Likeness::kUnknown;
  return loader.load(a) == loader.load(b) ? Likeness::kEqual : Likeness::kDifferent;
}

std::vector<ReplicaSet> replica_sets(const std::vector<CapturedStep>& steps, CaptureLoader& loader, bool inferred) {
  // The first capture of each parameter on each rank.
  std::map<std::tuple<std::int64_t, std::string, std::vector<std::uint64_t>>, std::vector<Holder>> holders;
  std::map<std::pair<int, std::int64_t>, std::int64_t> first_steps;
  for (const CapturedStep& step : steps) {
    const auto [first, made] = first_steps.try_emplace({step.rank, step.ordinal}, step.step);
    if (!made && first->second != step.step) continue;
    for (const CapturedParameter& parameter : step.parameters) {
      const Capture* capture = parameter.any();
      if (capture != nullptr)
        holders[{step.ordinal, parameter.name, capture->offset}].push_back({step.rank, capture, parameter.module});
    }
  }
  std::vector<ReplicaSet> sets;
  std::set<std::pair<int, int>> share;  // ranks that hold something equal which is no constant
  std::vector<ReplicaSet> norms;
  for (const auto& [place, ranks] : holders) {
    const auto& [ordinal, name, offset] = place;
    if (ranks.size() < 2) continue;
    const Capture& first = *ranks.front().capture;
    if (!first.replicas.empty()) {
      std::set<std::vector<int>> declared;
      for (const Holder& holder : ranks) {
        std::vector<int> there;
        for (const Holder& other : ranks) {
          const auto& replicas = holder.capture->replicas;
          if (std::find(replicas.begin(), replicas.end(), other.rank) != replicas.end()) there.push_back(other.rank);
        }
        std::sort(there.begin(), there.end());
        if (there.size() > 1) declared.insert(there);
      }
      for (const auto& there : declared)
        sets.push_back({name, ordinal, there, Evident::kDeclared, declares_data_parallel(first)});
      continue;
    }
    if (!inferred || !first.whole()) continue;
    for (const std::vector<Holder>& equal : equal_ones(loader, ranks)) {
      if (!constant(loader, *equal.front().capture)) {
        sets.push_back({name, ordinal, ranks_of(equal), Evident::kEqualAtFirst, false});
        for (const Holder& a : equal) {
          for (const Holder& b : equal) share.insert({a.rank, b.rank});
        }
      } else if (equal.front().module.find("Norm") != std::string::npos) {
        norms.push_back({name, ordinal, ranks_of(equal), Evident::kNorm, false});
      }
    }
  }
  for (ReplicaSet& norm : norms) {
    const int first = norm.ranks.front();
    std::erase_if(norm.ranks, [&](int rank) { return !share.contains({first, rank}); });
    if (norm.ranks.size() > 1) sets.push_back(std::move(norm));
  }
  return sets;
}

}  // namespace plumbline::checks
