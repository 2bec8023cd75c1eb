#include "shim/torch/record_function.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "shim/torch/caching_allocator.hpp"
#include "shim/torch/host.hpp"
#include "shim/torch/open_step.hpp"
#include "shim/torch/python_hooks.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Kind;
using recorder::RangeRecord;
using recorder::StepRecord;

constexpr std::string_view kStepPrefix = "Optimizer.step#";
constexpr std::string_view kStepSuffix = ".step";

using OpenCount = std::atomic<std::uint32_t>;

// How many ranges the calling thread has opened that are still open. A work queue or a future may close them on another
// thread, which then counts down here: so the counter is shared.
const std::shared_ptr<OpenCount>& open_ranges() {
  thread_local const auto count = std::make_shared<OpenCount>(0);
  return count;
}

struct RangeContext final : at::ObserverContext {
  std::uint64_t name = 0;
  std::uint64_t handle = 0;
  std::uint8_t depth = 0;
  std::shared_ptr<OpenCount> open;
  std::shared_ptr<OpenStep> step;  // set: an optimizer's step instead of a plain range
};

void push_range(const RangeContext& range, Kind kind) noexcept {
  RangeRecord record{};
  record.header = {host().now_ns(), kind, recorder::slots_of<RangeRecord>(), range.depth,
                   static_cast<std::uint32_t>(at::RecordScope::USER_SCOPE)};
  record.name = range.name;
  record.handle = range.handle;
  host().push(&record.header);
}

void push_step(const OpenStep& step, Kind kind, bool raised) noexcept {
  StepRecord record{};
  record.header = {host().now_ns(), kind, recorder::slots_of<StepRecord>(), step.depth, raised ? 1u : 0u};
  record.handle = step.handle;
  record.name = step.name;
  record.optimizer = step.optimizer;
  record.key = step.key;
  host().push(&record.header);
}

// The class in "Optimizer.step#AdamW.step".
std::string_view optimizer_class(std::string_view range) {
  range.remove_prefix(kStepPrefix.size());
  if (range.size() > kStepSuffix.size() && range.substr(range.size() - kStepSuffix.size()) == kStepSuffix) {
    range.remove_suffix(kStepSuffix.size());
  }
  return range;
}

void begin_step(RangeContext& context, std::string_view name) {
  host().hook_fired(kHookStep);
  context.step = open_step();
  context.step->handle = host().next_id();
  context.step->name = text_id(optimizer_class(name));
  push_step(*context.step, Kind::kStepBegin, false);
}

void begin_range(RangeContext& context, std::string_view name) {
  host().hook_fired(kHookRange);
  context.open = open_ranges();
  context.depth = static_cast<std::uint8_t>(std::min<std::uint32_t>(context.open->fetch_add(1), 255));
  context.name = text_id(name);
  context.handle = host().next_id();
  push_range(context, Kind::kRangeBegin);
  host().begin_launches(context.handle);
}

std::unique_ptr<at::ObserverContext> on_begin(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const bool step = name.substr(0, kStepPrefix.size()) == kStepPrefix;
  // Before anything else: in a forked child this is what recording begins with.
  if (step) host().promote("optimizer step");
  if (!host().active()) return nullptr;
  follow_caching_allocator();
  install_python_hooks();
  auto context = std::make_unique<RangeContext>();
  if (step) {
    begin_step(*context, name);
  } else {
    begin_range(*context, name);
  }
  return context;
}

// The context is null when on_begin returned none, or when another observer's begin threw.
void on_end(const at::RecordFunction&, at::ObserverContext* opaque) {
  const auto* context = static_cast<RangeContext*>(opaque);
  if (context == nullptr) return;
  if (context->step) {
    OpenStep& step = *context->step;
    push_step(step, Kind::kStepEnd, step.entered && !step.returned);
    close_step(step);
  } else {
    push_range(*context, Kind::kRangeEnd);
    if (context->open == open_ranges()) host().end_launches();
    context->open->fetch_sub(1);
  }
}

}  // namespace

void construct_range(void* range, std::uint8_t scope) {
  auto callbacks = at::getStepCallbacks(static_cast<at::RecordScope>(scope));
  if (callbacks.callbacks_.size() == 1 && callbacks.callbacks_[0].start_ == on_begin) callbacks = at::StepCallbacks();
  new (range) at::RecordFunction(std::move(callbacks));
}

bool install_record_function(const char** why) noexcept {
  try {
    at::addGlobalCallback(at::RecordFunctionCallback(on_begin, on_end).scopes({at::RecordScope::USER_SCOPE}));
    return true;
  } catch (const std::exception&) {
    *why = "torch refused the observer";
    return false;
  }
}

}  // namespace plumbline::shim::adapter
