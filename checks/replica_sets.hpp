// Which ranks must hold the same tensor: those that the job declares (DDP, the placements of a DTensor), those that a
// template names, and those that the captures prove.
//
// Not declared, ranks are replicas of a parameter when its gradient had the same bits on them in a captured step and
// was no constant: gradients of different data are never equal, unless a collective made them so. Equal values at the
// first captured step alone prove nothing: experts and shards may be drawn from the same seed, and a bias that tensor
// parallelism divides begins with equal zeros. Still, a norm layer whose gradients nobody sums is a known fault: it
// counts where the ranks share the gradients of another norm and it cannot be a shard by its size, and where they share
// the gradients of every matrix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/optimizer_recompute.hpp"
#include "checks/verdict.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

enum class Evident : std::uint8_t {
  kDeclared,
  kTemplate,        // the template's word
  kEqualGradients,  // in a captured step
  kSameModel,       // every parameter began equal; gradients never were
  kNorm,            // a norm layer beside others, or matrices alone, whose gradients are equal
  kEqualAtFirst,    // and no gradient was captured
};

struct ReplicaSet {
  std::string name;  // of the parameter
  std::int64_t ordinal = 0;
  std::vector<int> ranks;  // rising, two or more
  Evident evident = Evident::kDeclared;
  Status status = Status::kFail;  // of what differs
};

struct ReplicaSets {
  std::vector<ReplicaSet> sets;
  std::vector<std::string> remarks;  // what may be a replica, and may be none
};

using RankGroups = std::vector<std::vector<int>>;

// What a template says must agree: parameters by a pattern of their names, over each of some groups.
struct TemplateReplicas {
  std::string pattern;
  std::string description;  // of the groups, as the job gives it
  RankGroups groups;
};

ReplicaSets replica_sets(const std::vector<CapturedStep>& steps, CaptureLoader& loader,
                         const std::vector<TemplateReplicas>& wanted);

// Nothing is known where two captures are not of the same places.
enum class Likeness : std::uint8_t { kUnknown, kEqual, kDifferent };
Likeness compare(CaptureLoader& loader, const Capture* a, const Capture* b);

// One value throughout; so is what has less than two.
bool constant(CaptureLoader& loader, const Capture& capture);

}  // namespace plumbline::checks
