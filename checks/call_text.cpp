#include "checks/call_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reader/call_terms.hpp"
#include "reader/names.hpp"
#include "reader/steps.hpp"

namespace plumbline::checks {

std::string call_name(const reader::Collective& call) {
  return fmt::format("{} #{}", reader::name_of(call.op), call.seq);
}

std::string carried_text(const reader::Collective& call) {
  if (!reader::carries_data(call.op)) return {};
  std::string text;
  const auto reduce = reader::name_of(call.reduce_op);
  if (!reduce.empty()) text += fmt::format("{} of ", reduce);
  return text + fmt::format("{}[{}]", reader::name_of(call.dtype), std::max(call.count_in, call.count_out));
}

std::string call_text(const reader::Collective& call) {
  const std::string carried = carried_text(call);
  return carried.empty() ? call_name(call) : call_name(call) + ", " + carried;
}

std::string group_name(const reader::Group& group) {
  if (!group.description.empty() && group.description != "undefined") return group.description;
  return group.name.empty() ? "a group without a name" : group.name;
}

std::string step_clause(const reader::Trace& trace, std::uint64_t time_ns) {
  if (trace.steps().count() == 0) return {};
  return fmt::format(", step {}", trace.steps().step_at(time_ns));
}

bool is_backend_range(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("nccl:") || name.starts_with("mpi:");
}

bool is_phase(const reader::Trace& trace, const reader::Range& range) {
  return !range.is_operator() && !is_backend_range(trace.text(range.name));
}

std::string time_text(double seconds) { return fmt::format("{:.3f} s", seconds); }

}  // namespace plumbline::checks
