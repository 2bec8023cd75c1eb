#include "checks/captured_losses.hpp"

#include "checks/fused_head.hpp"

namespace plumbline::checks {

std::vector<LossCall> captured_losses(const reader::RunCaptures& captures, CaptureLoader& loader,
                                      std::map<std::string, std::size_t>& why_not) {
  std::vector<LossCall> calls;
  std::string why;
  const auto keep = [&](std::optional<LossCall> call) {
    if (call) {
      calls.push_back(std::move(*call));
    } else {
      ++why_not[why];
    }
  };
  for (const std::int64_t step : captures.steps()) {
    for (const Capture* hidden : captures.select("head.hidden", step))
      keep(recompute_head(loader, captures, *hidden, why));
    for (const char* probe : {"loss", "token_loss"}) {
      for (const Capture* loss : captures.select(probe, step)) {
        if (captures.find("head.hidden", step, loss->name, loss->rank, loss->occurrence) != nullptr) continue;
        const Capture* logits = captures.find("logits", step, loss->name, loss->rank, loss->occurrence);
        const Capture* labels = captures.find("labels", step, loss->name, loss->rank, loss->occurrence);
        keep(recompute_loss(loader, *loss, logits, labels, why));
      }
    }
  }
  return calls;
}

}  // namespace plumbline::checks
