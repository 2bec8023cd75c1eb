// Which ranks must hold the same tensor: those that the job declares (DDP, the placements of a DTensor), and those that
// the first captured step proves.
//
// Not declared, ranks count as replicas of a parameter when they hold the same bits at the first captured step and
// these are no constant: two models that were drawn apart do not agree by chance. Of a constant one (zeros of a bias,
// ones of a norm) equality proves nothing: a bias that tensor parallelism divides begins with equal zeros on all ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/optimizer_recompute.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

enum class Evident : std::uint8_t {
  kDeclared,
  kEqualAtFirst,  // and not constant
  kNorm,          // constant, of a norm layer, between ranks that share other parameters
};

struct ReplicaSet {
  std::string name;  // of the parameter
  std::int64_t ordinal = 0;
  std::vector<int> ranks;  // rising, two or more
  Evident evident = Evident::kDeclared;
  bool data_parallel = false;  // each of them sees its own part of the batch
};

// `inferred` false: declared ones alone.
std::vector<ReplicaSet> replica_sets(const std::vector<CapturedStep>& steps, CaptureLoader& loader, bool inferred);

// Nothing is known where two captures are not of the same places.
enum class Likeness : std::uint8_t { kUnknown, kEqual, kDifferent };
Likeness compare(CaptureLoader& loader, const Capture* a, const Capture* b);

}  // namespace plumbline::checks
