#include "checks/micro_batches.hpp"

#include <algorithm>

namespace plumbline::checks {

double MicroBatch::sum() const {
  double total = 0;
  for (const LossCall* chunk : chunks) total += chunk->sum;
  return total;
}

double MicroBatch::supervised() const {
  std::size_t total = 0;
  for (const LossCall* chunk : chunks) total += chunk->supervised;
  return static_cast<double>(total);
}

double MicroBatch::rows() const {
  std::size_t total = 0;
  for (const LossCall* chunk : chunks) total += chunk->rows;
  return static_cast<double>(total);
}

double MicroBatch::bound() const {
  double most = 0;
  for (const LossCall* chunk : chunks) most = std::max(most, chunk->bound);
  return most;
}

double MicroBatch::mean_of_means() const {
  double total = 0;
  for (const LossCall* chunk : chunks) total += chunk->mean();
  return chunks.empty() ? 0 : total / static_cast<double>(chunks.size());
}

std::vector<MicroBatch> micro_batches(const std::vector<const LossCall*>& calls,
                                      const std::vector<const Capture*>& backward) {
  std::vector<MicroBatch> batches;
  std::size_t next = 0;
  for (const Capture* end : backward) {
    MicroBatch batch;
    while (next < calls.size() && calls[next]->loss->time_ns <= end->time_ns) batch.chunks.push_back(calls[next++]);
    if (batch.chunks.empty()) break;
    batches.push_back(std::move(batch));
  }
  if (batches.size() == backward.size() && next == calls.size() && !batches.empty()) return batches;
  batches.clear();
  for (const LossCall* call : calls) batches.push_back({{call}});
  return batches;
}

}  // namespace plumbline::checks
