#include "shim/torch/open_step.hpp"

#include <algorithm>
#include <vector>

namespace plumbline::shim::adapter {
namespace {

using Stack = std::vector<std::shared_ptr<OpenStep>>;

Stack& live_steps() noexcept {
  thread_local Stack stack;
  stack.erase(std::remove_if(stack.begin(), stack.end(), [](const auto& step) { return step->closed.load(); }),
              stack.end());
  return stack;
}

}  // namespace

std::shared_ptr<OpenStep> open_step() {
  auto& stack = live_steps();
  auto step = std::make_shared<OpenStep>();
  step->depth = static_cast<std::uint8_t>(std::min<std::size_t>(stack.size(), 255));
  stack.push_back(step);
  return step;
}

OpenStep* innermost_step() noexcept {
  auto& stack = live_steps();
  return stack.empty() ? nullptr : stack.back().get();
}

void close_step(OpenStep& step) noexcept {
  step.closed.store(true);
  live_steps();
}

}  // namespace plumbline::shim::adapter
