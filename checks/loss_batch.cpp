#include "checks/loss_batch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plumbline::checks {
namespace {

bool each_is_a_row(const MicroBatch& micro, const std::map<std::uint32_t, ForwardPass>& passes) {
  return std::any_of(passes.begin(), passes.end(), [&](const auto& one) {
    const ForwardPass& pass = one.second;
    return pass.rows == static_cast<double>(micro.chunks.size()) &&
           std::all_of(micro.chunks.begin(), micro.chunks.end(), [&](const LossCall* chunk) {
             const auto rows = static_cast<double>(chunk->rows);
             return rows == pass.length || rows + 1 == pass.length;
           });
  });
}

void add_rank(LossBatch& batch, const RankLosses& rank, double& bound) {
  double error = 0;
  std::size_t chunks = 0;
  for (const MicroBatch& micro : rank.micro) {
    batch.rows += micro.rows();
    bound = std::max(bound, micro.bound());
    batch.mean_of_means += micro.mean();
    batch.mean_of_chunks += micro.mean_of_means();
    batch.chunks = std::max(batch.chunks, micro.chunks.size());
    batch.chunks_are_rows = batch.chunks_are_rows && each_is_a_row(micro, rank.passes);
    chunks += micro.chunks.size();
    for (const LossCall* chunk : micro.chunks) {
      batch.sum += chunk->sum;
      batch.is_loss = batch.is_loss && chunk->is_loss;
      if (chunk->weight) error = std::max(error, chunk->weight->error);
    }
    ++batch.micro;
  }
  batch.bound = std::max(batch.bound, error);
  batch.chunks_are_passes = batch.chunks_are_passes && chunks == rank.passes.size();
  batch.several = batch.several || rank.several_losses();
  batch.tokens_known = batch.tokens_known && rank.given() > 0;
  double sum = 0;
  for (const LossCall* call : rank.calls) sum += call->sum;
  if (rank.supervised() > 0) batch.mean_of_ranks += sum / rank.supervised();
  batch.tokens += rank.supervised();
}

}  // namespace

bool RankLosses::weighed() const {
  return !calls.empty() &&
         std::all_of(calls.begin(), calls.end(), [](const LossCall* call) { return call->weight.has_value(); });
}

double RankLosses::value() const {
  double total = 0;
  for (const double one : backward) total += one;
  return total;
}

double RankLosses::weighted() const {
  double total = 0;
  for (const LossCall* call : calls) total += call->weight ? call->weight->sum : 0;
  return total;
}

double RankLosses::supervised() const {
  double total = 0;
  for (const LossCall* call : calls) total += static_cast<double>(call->supervised);
  return total;
}

double RankLosses::given() const {
  double total = 0;
  for (const auto& [number, pass] : passes) total += pass.tokens();
  return total;
}

bool RankLosses::several_losses() const {
  double labels = 0;
  for (const LossCall* call : calls) labels += static_cast<double>(call->rows);
  return labels > given();
}

std::size_t RankLosses::losses_a_token() const {
  double labels = 0;
  for (const LossCall* call : calls) labels += static_cast<double>(call->rows);
  if (given() <= 0) {
    const std::size_t chunks = micro.empty() ? 0 : micro.front().chunks.size();
    const auto has_as_many = [&](const MicroBatch& one) { return one.chunks.size() == chunks; };
    return std::all_of(micro.begin(), micro.end(), has_as_many) ? chunks : 0;
  }
  const auto losses = static_cast<std::size_t>(std::ceil(labels / given()));
  return losses > 0 && calls.size() % losses == 0 ? losses : 0;
}

bool LossBatch::close(double a, double b) const {
  return std::fabs(a - b) <= bound * std::max(std::fabs(a), std::fabs(b));
}

std::optional<LossBatch> measured(std::map<int, RankLosses> ranks) {
  if (ranks.empty()) return std::nullopt;
  const std::size_t micro = ranks.begin()->second.micro.size();
  LossBatch batch;
  batch.weighed = std::all_of(ranks.begin(), ranks.end(), [](const auto& one) { return one.second.weighed(); });
  const bool values =
      std::all_of(ranks.begin(), ranks.end(), [](const auto& one) { return one.second.values_known(); });
  const bool alike =
      std::all_of(ranks.begin(), ranks.end(), [&](const auto& one) { return one.second.micro.size() == micro; });
  const bool hooked = std::any_of(ranks.begin(), ranks.end(), [](const auto& one) { return one.second.hooked; });
  if (micro == 0 || !alike || (!batch.weighed && (!values || hooked))) return std::nullopt;
  const auto world = static_cast<double>(ranks.size());
  batch.chunks_are_rows = batch.chunks_are_passes = true;
  double bound = 0;
  double value = 0;
  for (const auto& [number, rank] : ranks) {
    add_rank(batch, rank, bound);
    batch.used += (batch.weighed ? rank.weighted() : rank.value()) / world;
    value += rank.value() / world;
  }
  if (values) batch.value = value;
  if (batch.tokens > 0) batch.right = batch.sum / batch.tokens;
  if (batch.rows > 0) batch.with_padding = batch.sum / batch.rows;
  batch.mean_of_means /= static_cast<double>(batch.micro);
  batch.mean_of_chunks /= static_cast<double>(batch.micro);
  batch.mean_of_ranks /= world;
  batch.micro /= ranks.size();
  // Scaling and adding up micro-batches rounds a few times more.
  if (batch.right != 0) batch.bound += 4 * (bound / std::fabs(batch.right));
  batch.bound += 64 * 0x1p-24;
  batch.ranks = std::move(ranks);
  return batch;
}

LossBatch only_nth_losses(const LossBatch& batch, std::size_t n) {
  std::map<int, RankLosses> ranks;
  for (const auto& [number, all] : batch.ranks) {
    RankLosses& rank = ranks[number];
    rank.passes = all.passes;
    rank.backward_calls = all.backward_calls;
    const std::size_t losses = all.losses_a_token();
    for (std::size_t i = n; losses > 0 && i < all.calls.size(); i += losses) rank.calls.push_back(all.calls[i]);
    for (const LossCall* call : rank.calls) rank.micro.push_back({{call}});
  }
  return measured(std::move(ranks)).value_or(LossBatch{});
}

}  // namespace plumbline::checks
