#include "shim/core/host_table.hpp"

#include <string>

#include "recorder/capture_plan.hpp"
#include "recorder/captures.hpp"
#include "recorder/probe_template.hpp"
#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"
#include "shim/cupti/device_recording.hpp"
#include "shim/stacks/allocation_stacks.hpp"

namespace plumbline::shim {
namespace {

constexpr const char* or_empty(const char* text) noexcept { return text != nullptr ? text : ""; }

std::uint64_t text_id(const char* text, std::size_t length) noexcept { return recorder::text_id({text, length}); }

std::uint64_t define_group(const char* name, const char* description, const char* backend, const char* ranks,
                           std::int32_t rank, std::int32_t size, std::uint64_t pointer) noexcept {
  return recorder::define_group(or_empty(name), or_empty(description), or_empty(backend), or_empty(ranks), rank, size,
                                pointer);
}

// An optimizer step in a forked child is what makes it a process of its own in the trace.
void promote(const char* why) noexcept { open_for_training(or_empty(why)); }

void fact(const char* key, const char* value) noexcept { recorder::fact(or_empty(key), or_empty(value)); }

void hook_state(unsigned hook, const char* name, bool active, const char* detail) noexcept {
  recorder::hook_state(hook, or_empty(name), active, or_empty(detail));
}

// Facts too: a process that is killed while it prints its traceback never writes its end.
void set_exception(const char* type, const char* message) noexcept {
  recorder::fact("exception.class", or_empty(type));
  recorder::fact("exception.message", or_empty(message));
  recorder::set_exception(or_empty(type), or_empty(message));
}

// Made at the first look, by when the settings no longer change.
const recorder::CapturePlan& capture_plan() noexcept {
  static const auto* plan = [] {
    const recorder::Settings& settings = settings_in_force();
    // What the settings say of a probe counts more than what the template does.
    std::string amounts;
    for (const recorder::TemplateProbe& probe : settings.probes.probes) {
      if (!probe.amount.empty()) amounts += (amounts.empty() ? "" : ",") + probe.probe + "=" + probe.amount;
    }
    if (!settings.capture.empty()) amounts += (amounts.empty() ? "" : ",") + settings.capture;
    return new recorder::CapturePlan(settings.level, settings.capture_steps, amounts);
  }();
  return *plan;
}

const char* probe_template() noexcept {
  static const auto* text = [] {
    const recorder::Settings& settings = settings_in_force();
    return new std::string(settings.probe_template.empty() ? "" : recorder::template_json(settings.probes));
  }();
  return text->c_str();
}

constinit PlumblineHost host = {
    kPlumblineAdapterVersion,
    sizeof(PlumblineHost),
    recorder::now_ns,
    recorder::active,
    [](const recorder::RecordHeader* record) { return recorder::push(*record); },
    text_id,
    recorder::next_id,
    define_group,
    promote,
    fact,
    recorder::hook_fired,
    hook_state,
    set_exception,
    "",
    stacks::note_request,
    stacks::note_failure,
    recorder::level,
    [](const recorder::Capture* capture) { return recorder::capture(*capture); },
    recorder::flush_captures,
    [](std::int64_t step) { return capture_plan().step(step); },
    [](const char* probe) { return capture_plan().wish(or_empty(probe)); },
    recorder::capture_hash,
    [] { return settings_in_force().nan_fill; },
    [](std::uint64_t handle) { cupti::begin_launches(handle); },
    [] { cupti::end_launches(); },
    probe_template,
};

}  // namespace

const PlumblineHost& host_table(const char* torch_version) noexcept {
  host.torch_version = torch_version;
  return host;
}

}  // namespace plumbline::shim
