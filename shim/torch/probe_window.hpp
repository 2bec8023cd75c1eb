// The step that belongs to what probes see outside of an optimizer, such as a loss: the one that the first optimizer
// takes next. Such probes exist in a diagnosis alone, and sleep at steps that the settings do not choose.
#pragma once

#include <cstdint>
#include <string>

namespace plumbline::shim::adapter {

// -1: nothing is to be looked at now. From any thread.
std::int64_t window_step() noexcept;

// After each outermost step, and before the first. Needs the interpreter lock.
void move_window() noexcept;

// How often a probe has seen a name in this step so far.
std::uint32_t next_occurrence(const std::string& probe, const std::string& name);

// How often each probe has captured something, for the note about those that never did. As a JSON object.
void count_probe(const std::string& probe);
std::string probe_counts();

}  // namespace plumbline::shim::adapter
