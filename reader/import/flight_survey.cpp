#include "reader/import/flight_survey.hpp"

#include <algorithm>

#include "reader/import/flight_names.hpp"

namespace plumbline::reader::imports {
namespace {

FlightGroupName group_of(const PlainData& data, Value entry) {
  const auto pair = data.items(data.member(entry, "process_group"));
  if (pair.size() < 2) return {};
  return {std::string(data.text(pair[0])), std::string(data.text(pair[1]))};
}

bool numeric_less(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

bool is_flight_dump(const PlainData& data) {
  const Value root = data.root();
  return data.has(root, "version") &&
         (data.has(root, "entries") || data.has(root, "pg_config") || data.has(root, "pg_status"));
}

FlightSummary summarize_flight_dump(const PlainData& data, int rank) {
  FlightSummary summary;
  summary.rank = rank;
  summary.version = data.text(data.member(data.root(), "version"));
  for (const Value entry : data.items(data.member(data.root(), "entries"))) {
    ++summary.entries;
    if (data.truth(data.member(entry, "retired")) || data.text(data.member(entry, "state")) == "completed")
      ++summary.finished;
    summary.frames = summary.frames || data.has(entry, "frames");
    const auto created = data.integer_or(data.member(entry, "time_created_ns"), 0);
    summary.newest_ns = std::max(summary.newest_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(created, 0)));
    if (const auto id = data.integer(data.member(entry, "pg_id")))
      summary.names.try_emplace(*id, group_of(data, entry));
  }
  const auto config = data.items(data.member(data.root(), "pg_config"));
  for (std::size_t i = 1; i < config.size(); i += 2) {
    const Value ranks = data.member(config[i], "ranks");
    std::string list(data.text(ranks));
    for (const Value one : data.items(ranks))  // some forks write a real list
      list += (list.empty() ? "" : ", ") + std::to_string(data.integer_or(one, -1));
    const std::string name(data.text(data.member(config[i], "name")));
    if (!parse_ranks(list).empty())
      summary.configured.try_emplace({name, std::string(data.text(data.member(config[i], "desc")))}, std::move(list));
  }
  const auto status = data.items(data.member(data.root(), "pg_status"));
  for (std::size_t i = 0; i + 1 < status.size(); i += 2)
    if (const auto id = data.integer(status[i])) summary.status_ids.push_back(*id);
  std::sort(summary.status_ids.begin(), summary.status_ids.end());
  return summary;
}

void FlightSurvey::add(FlightSummary summary, const PlainData& data) {
  const int rank = summary.rank;
  for (const Value entry : data.items(data.member(data.root(), "entries"))) {
    const FlightGroupName name = group_of(data, entry);
    callers_[name].insert(rank);
    const auto configured = summary.configured.find(name);
    const std::string ranks = configured == summary.configured.end() ? std::string() : configured->second;
    if (data.truth(data.member(entry, "is_p2p"))) point_to_point_.insert({name, ranks});
    if (const auto id = data.integer(data.member(entry, "pg_id"))) ids_.try_emplace({name, ranks}, *id);
  }
  world_size_ = std::max(world_size_, rank + 1);
  for (const auto& [name, list] : summary.configured)
    if (const auto ranks = parse_ranks(list); !ranks.empty())
      world_size_ = std::max(world_size_, *std::max_element(ranks.begin(), ranks.end()) + 1);
  summaries_.insert_or_assign(rank, std::move(summary));
}

void FlightSurvey::finish() {
  for (auto& [rank, summary] : summaries_) name_ids(summary);
}

// Gives names to the ids of pg_status that no entry of the same dump names.
void FlightSurvey::name_ids(FlightSummary& summary) {
  // Both names and ids are counted up as a process makes its groups: when there are as many of one as of the other, the
  // nth id is the nth group, unless an entry says otherwise.
  std::vector<FlightGroupName> by_age;
  for (const auto& [name, ranks] : summary.configured) by_age.push_back(name);
  std::sort(by_age.begin(), by_age.end(),
            [](const FlightGroupName& a, const FlightGroupName& b) { return numeric_less(a.first, b.first); });
  std::map<std::int64_t, FlightGroupName> guess;
  if (by_age.size() == summary.status_ids.size())
    for (std::size_t i = 0; i < by_age.size(); ++i) guess[summary.status_ids[i]] = by_age[i];
  const bool contradicted = std::any_of(summary.names.begin(), summary.names.end(), [&](const auto& known) {
    const auto it = guess.find(known.first);
    return it != guess.end() && it->second != known.second;
  });
  if (guess.empty() || contradicted) {
    // Members of one group mostly have it under the same id; only a group of this rank's own, by name and ranks,
    // counts.
    guess.clear();
    for (const auto& [name, ranks] : summary.configured) {
      const auto seen = ids_.find({name, ranks});
      if (seen != ids_.end() && !guess.try_emplace(seen->second, name).second) guess.erase(seen->second);
    }
  }
  for (const std::int64_t id : summary.status_ids)
    if (const auto it = guess.find(id); it != guess.end()) summary.names.try_emplace(id, it->second);
}

const FlightSummary* FlightSurvey::find(int rank) const {
  const auto it = summaries_.find(rank);
  return it == summaries_.end() ? nullptr : &it->second;
}

std::vector<int> FlightSurvey::ranks_of(int rank, const FlightGroupName& name) const {
  const FlightSummary* const summary = find(rank);
  if (summary != nullptr) {
    const auto it = summary->configured.find(name);
    if (it != summary->configured.end()) return parse_ranks(it->second);
  }
  std::vector<int> ranks;
  if (name.second == "default_pg") {
    for (int one = 0; one < world_size_; ++one) ranks.push_back(one);
  } else if (const auto it = callers_.find(name); it != callers_.end()) {
    ranks.assign(it->second.begin(), it->second.end());
  }
  return ranks;
}

FlightGroupName FlightSurvey::name_of(int rank, std::int64_t id) const {
  const FlightSummary* const summary = find(rank);
  if (summary == nullptr) return {};
  const auto it = summary->names.find(id);
  return it == summary->names.end() ? FlightGroupName{} : it->second;
}

bool FlightSurvey::has_point_to_point(int rank, const FlightGroupName& name) const {
  const FlightSummary* const summary = find(rank);
  if (summary == nullptr) return false;
  const auto it = summary->configured.find(name);
  return point_to_point_.contains({name, it == summary->configured.end() ? std::string() : it->second});
}

}  // namespace plumbline::reader::imports
