#include "reader/group_status.hpp"

#include <charconv>

namespace plumbline::reader {
namespace {

constexpr std::string_view kPrefix = "group_status.";
constexpr std::string_view kPointToPoint = "point_to_point";

template <class Number>
bool take_number(std::string_view& rest, Number& number) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

}  // namespace

std::pair<std::string, std::string> fact_of(const GroupStatus& status) {
  std::string value =
      std::to_string(status.enqueued) + ' ' + std::to_string(status.started) + ' ' + std::to_string(status.completed);
  if (status.counts_point_to_point) value.append(" ").append(kPointToPoint);
  return {std::string(kPrefix) + std::to_string(status.group), std::move(value)};
}

std::optional<GroupStatus> group_status_of(std::string_view key, std::string_view value) {
  if (!key.starts_with(kPrefix)) return std::nullopt;
  key.remove_prefix(kPrefix.size());
  GroupStatus status;
  if (!take_number(key, status.group) || !key.empty()) return std::nullopt;
  if (!take_number(value, status.enqueued) || !take_number(value, status.started) ||
      !take_number(value, status.completed))
    return std::nullopt;
  status.counts_point_to_point = value.ends_with(kPointToPoint);
  return status;
}

std::vector<GroupStatus> group_statuses(const Trace& trace) {
  std::vector<GroupStatus> statuses;
  for (const auto& [key, value] : trace.definitions().facts)
    if (const auto status = group_status_of(key, value)) statuses.push_back(*status);
  return statuses;
}

}  // namespace plumbline::reader
