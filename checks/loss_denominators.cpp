#include "checks/loss_denominators.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace plumbline::checks {
namespace {

// What other terms add to a loss at most where they are no objective beside it: a balance of experts, a z-loss.
constexpr double kLittle = 0.02;

struct Denominator {
  double value;
  std::string kind;  // empty: the right one
  std::string words;
  std::string reading{};  // how it may be meant
};

struct Factor {
  double value;
  std::string names;
};

std::vector<Denominator> denominators(const LossBatch& batch) {
  const std::string uneven = ", which have different numbers of tokens";
  Denominator by_chunk{batch.mean_of_chunks, "mean by chunk",
                       "a mean of the means of chunks that a micro-batch is computed in" + uneven};
  if (batch.chunks_are_rows) {
    by_chunk.words = "a mean of the rows' means" + uneven;
    by_chunk.reading = "it may be meant: each row then counts alike, and a token of a short one for more";
  } else if (batch.chunks_are_passes) {
    by_chunk.words = "a mean of the means of batches that one backward() takes together" + uneven;
    by_chunk.reading = "it may be meant: each batch then counts alike, and a token of a small one for more";
  }
  return {
      {batch.right, "", ""},
      {batch.with_padding, "padding counted",
       fmt::format("divided by all {:.0f} tokens rather than the {:.0f} supervised ones", batch.rows, batch.tokens)},
      {batch.mean_of_ranks, "mean by rank", "a mean of the ranks' means" + uneven},
      {batch.mean_of_means, "mean by micro-batch", "a mean of the micro-batches' means" + uneven},
      std::move(by_chunk),
      // The ranks' gradients are averaged: of a sum, that is a division by their number.
      {batch.sum / batch.world(), "sum", "a sum over tokens, with no denominator"},
  };
}

std::vector<Factor> factors(const LossBatch& batch) {
  const auto micro = static_cast<double>(batch.micro);
  const auto chunks = static_cast<double>(batch.chunks);
  std::vector<Factor> result{{1, ""}};  // none
  if (batch.chunks > 1) {
    result.push_back({chunks, "the number of chunks"});
    if (batch.micro > 1) result.push_back({chunks * micro, "the number of chunks and the number of micro-batches"});
  }
  if (batch.micro > 1) result.push_back({micro, "the number of micro-batches"});
  if (batch.world() > 1) result.push_back({batch.world(), "the number of ranks"});
  if (batch.micro > 1 && batch.world() > 1)
    result.push_back({micro * batch.world(), "the number of micro-batches and the number of ranks"});
  return result;
}

LossExplanation told(const LossBatch& batch, const Denominator& denominator, const Factor& factor, bool inverse,
                     double used) {
  LossExplanation found;
  const std::string how = factor.names.empty() ? "" : (inverse ? "divided by " : "multiplied by ") + factor.names;
  found.kind = denominator.kind + " " + how;
  found.words = "is ";
  if (denominator.kind.empty()) {
    found.words += "the mean over the supervised tokens " + how;
  } else {
    found.words += denominator.words + (how.empty() ? "" : ", " + how);
  }
  found.reading = denominator.reading;
  if (!found.reading.empty()) found.status = Status::kInconclusive;
  if (denominator.kind.empty()) {
    // A part of a sum has a weight, rather below 1; a loss by itself hardly.
    const double more = batch.weighed && batch.value ? std::fabs(*batch.value - batch.used) : 0;
    const bool has_more = more > (inverse ? batch.bound : kLittle) * std::fabs(batch.used);
    if (has_more) found.status = Status::kInconclusive;
    found.reading = fmt::format("x {:.4g} is either that{}, or a factor that is meant: the numbers are the same{}",
                                used / batch.right, inverse ? ", on top of the mean that is taken already" : "",
                                has_more ? "; the loss has other terms besides" : "");
  }
  if (batch.several && (batch.chunks > 1 || batch.tokens_known)) found.status = Status::kInconclusive;
  // What may be meant in one step is not to be told with what fails in another.
  if (found.status != Status::kFail) found.kind += ", open";
  return found;
}

}  // namespace

std::optional<LossExplanation> explain_denominator(const LossBatch& batch, double used) {
  const std::vector<Denominator> all = denominators(batch);
  const std::vector<Factor> by = factors(batch);
  // One mistake explains better than two.
  for (const Denominator& denominator : all) {
    if (!denominator.kind.empty() && batch.close(used, denominator.value))
      return told(batch, denominator, by.front(), false, used);
  }
  for (const Denominator& denominator : all) {
    for (const Factor& factor : std::span(by).subspan(1)) {
      for (const bool inverse : {false, true}) {
        const double wanted = denominator.value * (inverse ? 1 / factor.value : factor.value);
        if (batch.close(used, wanted)) return told(batch, denominator, factor, inverse, used);
      }
    }
  }
  return std::nullopt;
}

}  // namespace plumbline::checks
