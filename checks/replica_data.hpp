// What must differ: the token ids of ranks that each take their own part of the batch.
//
// Ranks that split one row among them (context parallelism) look up the same ids, too, but learn from other labels;
// and a job that is fed the same batch in every step is meant to be.
#pragma once

#include <vector>

#include "checks/observations.hpp"
#include "checks/replica_sets.hpp"

namespace plumbline::checks {

// Ranks that share a batch: by the job's word, or because they hold the same model in every part.
struct BatchSet {
  std::vector<int> ranks;
  bool declared = true;
};

// By the job's word; else ranks that hold the same matrices throughout.
std::vector<BatchSet> sharers_of_batch(const std::vector<CapturedStep>& steps, const std::vector<ReplicaSet>& sets);

struct DataSeen {
  std::size_t compared = 0;  // batches
  bool one_batch = false;    // ranks see the same rows, and these in every step
};

DataSeen examine_data(const Subject& subject, CaptureLoader& loader, const std::vector<BatchSet>& sets,
                      Observations& into);

}  // namespace plumbline::checks
