// What the flight recorder dumps of a job say together, gathered before any of them is imported: a single dump can say
// too little. gloo's dumps do not list their groups' ranks, and a rank that hangs before its next call may have no
// entries left, only numbers by a process-local id of the group.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reader/import/plain_data.hpp"

namespace plumbline::reader::imports {

// Name and description of a process group. Names repeat between unrelated groups of some frameworks, ids mean nothing
// outside of their process: only together with its ranks does a name say which group is meant.
using FlightGroupName = std::pair<std::string, std::string>;

struct FlightSummary {
  int rank = -1;
  std::string version;
  std::size_t entries = 0;
  std::size_t finished = 0;  // entries that left the recorder's work list
  bool frames = false;
  std::uint64_t newest_ns = 0;                        // when the newest entry was made
  std::map<std::int64_t, FlightGroupName> names;      // of ids, from entries
  std::map<FlightGroupName, std::string> configured;  // groups in pg_config, with their list of ranks
  std::vector<std::int64_t> status_ids;               // of pg_status, ascending
};

// Is it a flight recorder dump at all?
bool is_flight_dump(const PlainData& data);

FlightSummary summarize_flight_dump(const PlainData& data, int rank);

class FlightSurvey {
 public:
  void add(FlightSummary summary, const PlainData& data);
  // When all dumps are in.
  void finish();

  // Ranks of a group that a rank belongs to: as its dump says, else those ranks whose dumps have calls in it.
  std::vector<int> ranks_of(int rank, const FlightGroupName& name) const;
  // Which group an id of the rank's pg_status means; an empty name: not known.
  FlightGroupName name_of(int rank, std::int64_t id) const;
  // Has any member used the group for sends and receives?
  bool has_point_to_point(int rank, const FlightGroupName& name) const;
  int world_size() const { return world_size_; }

 private:
  const FlightSummary* find(int rank) const;
  void name_ids(FlightSummary& summary);

  std::map<int, FlightSummary> summaries_;
  std::map<FlightGroupName, std::set<int>> callers_;
  std::set<std::pair<FlightGroupName, std::string>> point_to_point_;     // with the ranks as configured
  std::map<std::pair<FlightGroupName, std::string>, std::int64_t> ids_;  // seen for a group in any process
  int world_size_ = 0;
};

}  // namespace plumbline::reader::imports
