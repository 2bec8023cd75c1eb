#include "checks/testing/toy_loss.hpp"

#include <cmath>
#include <span>

#include "checks/loss.hpp"
#include "checks/testing/fake_rank.hpp"
#include "checks/testing/verdicts.hpp"

namespace plumbline::checks::testing {
namespace {

constexpr std::size_t kClasses = 7;

std::pair<double, double> cross_entropy(const std::vector<float>& logits, const std::vector<std::int64_t>& wanted) {
  double sum = 0;
  double count = 0;
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    if (wanted[row] < 0) continue;
    double total = 0;
    for (std::size_t c = 0; c < kClasses; ++c) total += std::exp(static_cast<double>(logits[row * kClasses + c]));
    sum += std::log(total) - logits[row * kClasses + static_cast<std::size_t>(wanted[row])];
    count += 1;
  }
  return {sum, count};
}

}  // namespace

std::vector<std::int64_t> ToyLoss::tokens(int rank, int micro) const {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 12; ++i) ids.push_back((i * i + 3 * i + 2 * micro + 5 * rank) % 6 + (i % 6 == 2 ? 1 : 0));
  for (int row = 0; row < 2 && end >= 0; ++row) {
    for (auto& id : std::span(ids).subspan(static_cast<std::size_t>(row) * 6, 4)) id = id == end ? end + 1 : id;
    ids[static_cast<std::size_t>(row) * 6 + 4] = ids[static_cast<std::size_t>(row) * 6 + 5] = end;
  }
  return ids;
}

std::vector<std::int64_t> ToyLoss::labels(const std::vector<std::int64_t>& ids, int micro) const {
  std::vector<std::int64_t> result;
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t place = 0; place < 6; ++place) {
      const std::size_t from = place + static_cast<std::size_t>(shift);
      bool kept = from < 6 && (end < 0 || ids[row * 6 + from] != end);
      // Only the first micro-batch leaves places out, so that their numbers differ.
      for (const std::int64_t left_out : unsupervised)
        kept = kept && (micro == 1 || static_cast<std::int64_t>(place) != left_out);
      result.push_back(kept ? ids[row * 6 + from] : -100);
    }
  }
  return result;
}

void ToyLoss::write_losses(CaptureJob& job, int rank, std::int64_t step, std::uint32_t micros) const {
  for (std::uint32_t micro = 0; micro < micros; ++micro) {
    const auto ids = tokens(rank, static_cast<int>(micro));
    const auto wanted = labels(ids, static_cast<int>(micro));
    std::vector<float> logits;
    for (std::size_t i = 0; i < 12 * kClasses; ++i)
      logits.push_back(static_cast<float>(std::sin(static_cast<double>(i * (micro + 2)) + rank) * 3));
    const TensorPlace place{.detail = tokens_apart ? R"({"reduction":"none","ignore_index":-100})"
                                                   : R"({"reduction":"mean","ignore_index":-100})",
                            .occurrence = micro};
    if (!no_ids && (!one_pass || micro == 0))
      job.tensor("input_ids", "model", step, Dtype::kInt64, {2, 6}, bytes_of(ids), place);
    if (decoder) {
      std::vector<std::int64_t> read(12, 0);
      for (std::size_t i = 1; i < 12; ++i) read[i] = i == 6 ? 0 : wanted[i - 1];
      job.tensor("input_ids", "model.decoder", step, Dtype::kInt64, {2, 6}, bytes_of(read), place);
    }
    std::vector<std::int64_t> mask(12, 1);
    if (end >= 0) mask[5] = mask[11] = 0;
    job.tensor("attention_mask", "model", step, Dtype::kInt64, {2, 6}, bytes_of(mask), place);
    job.tensor("logits", "cross_entropy", step, Dtype::kFloat32, {12, kClasses}, bytes_of(logits), place);
    job.tensor("labels", "cross_entropy", step, Dtype::kInt64, {12}, bytes_of(wanted), place);
    const auto [sum, count] = cross_entropy(logits, wanted);
    const auto mean = static_cast<float>(sum / count);
    if (tokens_apart) {
      std::vector<float> each;
      for (std::size_t row = 0; row < 12; ++row) {
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(row * kClasses);
        each.push_back(static_cast<float>(cross_entropy({first, first + kClasses}, {wanted[row]}).first));
      }
      job.tensor("token_loss", "cross_entropy", step, Dtype::kFloat32, {12}, bytes_of(each), place);
    } else {
      job.tensor("loss", "cross_entropy", step, Dtype::kFloat32, {}, bytes_of(std::vector<float>{mean}), place);
    }
    const double of_all = supervised(rank);
    const auto used = static_cast<float>(token_mean ? sum / of_all : sum / count * factor);
    if (!one_backward || micro + 1 == micros)
      job.tensor("backward.loss", "", step, Dtype::kFloat32, {}, bytes_of(std::vector<float>{used}),
                 {.detail = weighted ? R"({"weighted":true})"
                            : hooked ? R"({"hooked":true})"
                                     : "",
                  .occurrence = micro});
    if (micro >= weights.size() || weights[micro].empty()) continue;
    std::vector<std::uint64_t> shape;
    if (weights[micro].size() > 1) shape.push_back(weights[micro].size());
    job.tensor("loss.grad", "cross_entropy", step, Dtype::kFloat32, shape, bytes_of(weights[micro]), place);
  }
}

void ToyLoss::write(const std::string& directory) const {
  for (int rank = 0; rank < ranks; ++rank) {
    CaptureJob job(directory, rank);
    write_losses(job, rank, 0, 2);
    if (short_last) {
      write_losses(job, rank, 1, 2);
      write_losses(job, rank, 2, 1);
    }
    if (evaluates) {
      const TensorPlace place{.detail = R"({"reduction":"mean","ignore_index":-100,"requires_grad":false})",
                              .occurrence = 2};
      const std::vector<float> logits(6 * kClasses, 0.5F);
      const std::vector<std::int64_t> wanted{1, 2, 3, 4, 5, 6};
      job.tensor("logits", "cross_entropy", 0, Dtype::kFloat32, {6, kClasses}, bytes_of(logits), place);
      job.tensor("labels", "cross_entropy", 0, Dtype::kInt64, {6}, bytes_of(wanted), place);
      const auto mean = static_cast<float>(cross_entropy(logits, wanted).first / 6);
      job.tensor("loss", "cross_entropy", 0, Dtype::kFloat32, {}, bytes_of(std::vector<float>{mean}), place);
    }
    if (lone_step) job.tensor("backward.loss", "", 1, Dtype::kFloat32, {}, bytes_of(std::vector<float>{3}));
    if (divisor > 0) {
      const std::vector<float> left{48, -96};
      std::vector<float> used{48, -96};
      for (float& one : used) one /= static_cast<float>(divisor);
      job.tensor("grad.backward", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
      job.step_note(0, "SGD", {R"({"settings":{"lr":0.1},"params":["w"]})"});
      job.tensor("grad", "w", 0, Dtype::kFloat32, {2}, bytes_of(used));
      job.tensor("param.before", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
      job.tensor("param.after", "w", 0, Dtype::kFloat32, {2}, bytes_of(left));
    }
    if (ranks > 1) {
      job.step_note(0, "AdamW", {}, "torch.optim.adamw", {0, 1});
      job.tensor("param.before", "w", 0, Dtype::kFloat32, {2}, bytes_of(std::vector<float>{1, 2}));
    }
    job.finish();
  }
}

double ToyLoss::supervised(int rank) const {
  double count = 0;
  for (int micro = 0; micro < 2; ++micro) {
    for (const std::int64_t label : labels(tokens(rank, micro), micro)) count += label >= 0 ? 1 : 0;
  }
  return count;
}

Verdict ToyLoss::judged() const {
  const reader::testing::TempDir directory;
  for (int rank = 0; rank < ranks; ++rank) write_trace(directory.path(), rank, ranks);
  write(directory.path());
  return verdict_of(check_loss, directory);
}

std::string ToyLoss::title() const {
  const Verdict verdict = judged();
  return verdict.findings.empty() ? verdict.reason : verdict.findings.front().title;
}

}  // namespace plumbline::checks::testing
