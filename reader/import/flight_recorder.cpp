#include "reader/import/flight_recorder.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "reader/import/flight_names.hpp"
#include "reader/import/frames.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Outcome;

std::uint64_t time_of(const PlainData& data, Value value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(data.integer_or(value, 0), 0));
}

// Elements of all tensors of a list of sizes.
std::uint64_t elements_of(const PlainData& data, Value sizes) {
  std::uint64_t total = 0;
  for (const Value tensor : data.items(sizes)) {
    std::uint64_t elements = 1;
    for (const Value extent : data.items(tensor))
      elements *= static_cast<std::uint64_t>(std::max<std::int64_t>(data.integer_or(extent, 0), 0));
    total += elements;
  }
  return total;
}

std::uint16_t tensors_of(const PlainData& data, Value sizes) {
  return static_cast<std::uint16_t>(std::min<std::size_t>(data.items(sizes).size(), 0xffff));
}

class Importer {
 public:
  Importer(const PlainData& data, int rank, const FlightSurvey& survey) : data_(data), survey_(survey) {
    process_.rank = rank;
    process_.world_size = survey.world_size();
  }

  ImportedProcess run() {
    process_.formats = {"PyTorch flight recorder"};
    const Value root = data_.root();
    add_fact("source.version", data_.member(root, "version"));
    add_fact("nccl", data_.member(root, "nccl_version"));
    add_fact("nccl", data_.member(root, "comm_lib_version"));
    for (const Value entry : data_.items(data_.member(root, "entries"))) add_entry(entry);
    add_statuses(data_.member(root, "pg_status"));
    settle_by_status();
    add_open_stacks();
    name_lacks();
    return std::move(process_);
  }

 private:
  struct Source {
    std::vector<ImportedFrame> frames;
    bool point_to_point = false;
  };

  void add_fact(const char* key, Value value) {
    if (const std::string_view text = data_.text(value); !text.empty()) process_.facts.emplace_back(key, text);
  }

  int group_of(const FlightGroupName& name, const std::string& backend) {
    const auto [it, is_new] = groups_.try_emplace(name, -1);
    if (is_new) {
      ImportedGroup group;
      group.name = name.first;
      group.description = name.second;
      group.backend = backend;
      group.ranks = survey_.ranks_of(process_.rank, name);
      const auto at = std::find(group.ranks.begin(), group.ranks.end(), process_.rank);
      group.rank = at == group.ranks.end() ? -1 : static_cast<int>(at - group.ranks.begin());
      it->second = static_cast<int>(process_.groups.size());
      process_.groups.push_back(std::move(group));
    } else if (std::string& known = process_.groups[static_cast<std::size_t>(it->second)].backend; known.empty()) {
      known = backend;
    }
    return it->second;
  }

  std::vector<ImportedFrame> frames_of(Value entry) const {
    std::vector<ImportedFrame> frames;
    for (const Value frame : data_.items(data_.member(entry, "frames")))
      frames.push_back({std::string(data_.text(data_.member(frame, "name"))),
                        std::string(data_.text(data_.member(frame, "filename"))),
                        static_cast<std::uint32_t>(data_.integer_or(data_.member(frame, "line"), 0)), 0});
    return frames;
  }

  void add_entry(Value entry) {
    const FlightOperation operation = parse_flight_operation(data_.text(data_.member(entry, "profiling_name")));
    const Value inputs = data_.member(entry, "input_sizes");
    const Value outputs = data_.member(entry, "output_sizes");
    const bool point_to_point = data_.truth(data_.member(entry, "is_p2p"));
    ImportedCall call;
    call.enqueue_ns = time_of(data_, data_.member(entry, "time_created_ns"));
    call.start_ns = time_of(data_, data_.member(entry, "time_discovered_started_ns"));
    call.end_ns = time_of(data_, data_.member(entry, "time_discovered_completed_ns"));
    const auto pair = data_.items(data_.member(entry, "process_group"));
    if (pair.size() >= 2)
      call.group = group_of({std::string(data_.text(pair[0])), std::string(data_.text(pair[1]))}, operation.backend);
    // The oldest versions have one number for both.
    const Value seq = data_.member(entry, point_to_point ? "p2p_seq_id" : "collective_seq_id");
    call.seq = time_of(data_, seq.is_none() ? data_.member(entry, "seq_id") : seq);
    call.op = operation.op;
    call.peer = operation.peer;
    // Sizes are of the whole; how they are split among the ranks is not in the dump.
    call.uneven = call.op == recorder::Op::kAllToAll || call.op == recorder::Op::kAllToAllBase;
    const auto dtypes = data_.items(data_.member(entry, "input_dtypes"));
    if (!dtypes.empty()) call.dtype = dtype_named(data_.text(dtypes.front()));
    call.count_in = elements_of(data_, inputs);
    call.count_out = elements_of(data_, outputs);
    call.tensors_in = tensors_of(data_, inputs);
    call.tensors_out = tensors_of(data_, outputs);
    const std::string thread(data_.text(data_.member(entry, "thread_name")));
    const auto thread_id = data_.integer_or(data_.member(entry, "thread_id"), 0);
    call.thread = process_.thread(static_cast<std::uint32_t>(thread_id), thread);
    call.outcome = outcome_of(entry, operation.backend);
    Source source{frames_of(entry), point_to_point};
    call.site = call_site(source.frames);
    sources_.push_back(std::move(source));
    process_.calls.push_back(std::move(call));
  }

  Outcome outcome_of(Value entry, const std::string& backend) const {
    if (data_.text(data_.member(entry, "state")) == "completed") return Outcome::kCompleted;
    if (!data_.truth(data_.member(entry, "retired"))) return Outcome::kPending;
    // gloo's entries never change their state: that they were retired is all they say. NCCL retires without completion
    // what has timed out.
    return backend == "gloo" ? Outcome::kCompleted : Outcome::kFailed;
  }

  void add_statuses(Value statuses) {
    const auto pairs = data_.items(statuses);
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
      const auto id = data_.integer(pairs[i]);
      const FlightGroupName name = id ? survey_.name_of(process_.rank, *id) : FlightGroupName{};
      if (name.first.empty() && name.second.empty()) {
        ++unnamed_statuses_;
        continue;
      }
      GroupStatus status;
      status.enqueued = data_.integer_or(data_.member(pairs[i + 1], "last_enqueued_collective"), -1);
      status.started = data_.integer_or(data_.member(pairs[i + 1], "last_started_collective"), -1);
      status.completed = data_.integer_or(data_.member(pairs[i + 1], "last_completed_collective"), -1);
      status.counts_point_to_point = survey_.has_point_to_point(process_.rank, name);
      process_.groups[static_cast<std::size_t>(group_of(name, {}))].status = status;
    }
    if (unnamed_statuses_ != 0)
      process_.facts.emplace_back("source.statuses_without_group", std::to_string(unnamed_statuses_));
  }

  // A call that the dump lists as under way, though its group's status says that it has completed.
  void settle_by_status() {
    for (std::size_t i = 0; i < process_.calls.size(); ++i) {
      ImportedCall& call = process_.calls[i];
      if (call.group < 0 || call.outcome != Outcome::kPending || sources_[i].point_to_point) continue;
      const auto& status = process_.groups[static_cast<std::size_t>(call.group)].status;
      if (status && !status->counts_point_to_point && static_cast<std::int64_t>(call.seq) <= status->completed)
        call.outcome = Outcome::kCompleted;
    }
  }

  // Where each thread made the newest of its calls that are still open.
  void add_open_stacks() {
    std::map<std::uint32_t, std::size_t> newest;
    for (std::size_t i = 0; i < process_.calls.size(); ++i)
      if (process_.calls[i].outcome == Outcome::kPending && !sources_[i].frames.empty())
        newest[process_.calls[i].thread] = i;
    for (const auto& [thread, i] : newest) {
      ImportedStack stack;
      stack.time_ns = process_.calls[i].enqueue_ns;
      stack.tid = process_.threads[thread].tid;
      stack.thread_name = process_.threads[thread].name;
      stack.python = sources_[i].frames;
      process_.stacks.push_back(std::move(stack));
    }
  }

  void name_lacks() {
    process_.lacks = {"allocations", "optimizer steps", "ranges", "reduce operations", "roots", "exit"};
    const auto none = [&](auto&& has) { return std::none_of(process_.calls.begin(), process_.calls.end(), has); };
    if (none([](const ImportedCall& call) { return call.start_ns != 0; })) process_.lacks.emplace_back("starts");
    if (none([](const ImportedCall& call) { return call.end_ns != 0; })) process_.lacks.emplace_back("times of ends");
    if (none([](const ImportedCall& call) { return !call.site.empty(); })) process_.lacks.emplace_back("call sites");
    const bool gloo = std::any_of(process_.groups.begin(), process_.groups.end(),
                                  [](const ImportedGroup& group) { return group.backend == "gloo"; });
    if (gloo) process_.lacks.emplace_back("sends and receives");
  }

  const PlainData& data_;
  const FlightSurvey& survey_;
  ImportedProcess process_;
  std::vector<Source> sources_;  // beside process_.calls
  std::map<FlightGroupName, int> groups_;
  std::size_t unnamed_statuses_ = 0;
};

}  // namespace

std::string flight_version_problem(const PlainData& data) {
  const std::string version(data.text(data.member(data.root(), "version")));
  // A new minor version adds fields, a new major one changes them.
  if (version.starts_with("2.")) return {};
  return "its version is " + (version.empty() ? "missing" : version) + ", and only 2.x is known";
}

int flight_rank(const PlainData& data) {
  std::set<int> candidates;
  bool first = true;
  const auto config = data.items(data.member(data.root(), "pg_config"));
  for (std::size_t i = 1; i < config.size(); i += 2) {
    const std::vector<int> ranks = parse_ranks(data.text(data.member(config[i], "ranks")));
    if (ranks.empty()) continue;
    if (first) candidates.insert(ranks.begin(), ranks.end());
    first = false;
    std::erase_if(candidates, [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) == ranks.end(); });
  }
  return candidates.size() == 1 ? *candidates.begin() : -1;
}

ImportedProcess import_flight_dump(const PlainData& data, int rank, const FlightSurvey& survey) {
  return Importer(data, rank, survey).run();
}

}  // namespace plumbline::reader::imports
