// Collectives, groups and times in words, the same in every check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/collectives.hpp"
#include "reader/definitions.hpp"
#include "reader/ranges.hpp"
#include "reader/trace.hpp"

namespace plumbline::checks {

// "all_reduce #37": what one says to point at a call. Point-to-point calls are numbered apart.
std::string call_name(const reader::Collective& call);
// "all_reduce #37, sum of float32[82624]": with what it carried.
std::string call_text(const reader::Collective& call);
// "sum of float32[82624]"; empty of a call that carries nothing.
std::string carried_text(const reader::Collective& call);
// "default_pg": the description that the job gave it, else its name.
std::string group_name(const reader::Group& group);
// ", step 7"; nothing where the trace has no optimizer steps to count by.
std::string step_clause(const reader::Trace& trace, std::uint64_t time_ns);
// The backend's own range around a call ("gloo:all_reduce"), which says nothing that the call has not said.
bool is_backend_range(std::string_view name);
// Whether a range tells what the job is at: neither a backend's own nor a single operator.
bool is_phase(const reader::Trace& trace, const reader::Range& range);
// "12.345 s".
std::string time_text(double seconds);

}  // namespace plumbline::checks
