#include "shim/torch/collective_window.hpp"

#include <array>
#include <atomic>

#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter {
namespace {

// Of a group in a step, every call up to the first number, then every kEvery-th up to the second.
struct Limits {
  std::uint32_t all;
  std::uint32_t most;
};
constexpr std::uint64_t kEvery = 16;
constexpr Limits kWatch = {256, 4096};
constexpr Limits kDiagnosis = {4096, 65536};

std::atomic<std::int64_t> open_step{-1};
// By group; groups that share an entry are thinned out together.
std::array<std::atomic<std::uint32_t>, 64> calls{};

}  // namespace

void open_collectives(std::int64_t step) noexcept {
  if (open_step.exchange(step, std::memory_order_relaxed) == step) return;
  for (auto& count : calls) count.store(0, std::memory_order_relaxed);
}

std::int64_t step_of_collective(std::uint64_t group, std::uint64_t seq) noexcept {
  const std::int64_t step = open_step.load(std::memory_order_relaxed);
  if (step < 0) return -1;
  const Limits limits = host().level() == recorder::Level::kDiagnose ? kDiagnosis : kWatch;
  const std::uint32_t before = calls[group % calls.size()].fetch_add(1, std::memory_order_relaxed);
  if (before < limits.all) return step;
  return before < limits.most && seq % kEvery == 0 ? step : -1;
}

}  // namespace plumbline::shim::adapter
