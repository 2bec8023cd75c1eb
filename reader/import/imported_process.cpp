#include "reader/import/imported_process.hpp"

#include <algorithm>
#include <iterator>

namespace plumbline::reader::imports {
namespace {

template <class Row>
void append(std::vector<Row>& to, std::vector<Row>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& one : from)
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
}

}  // namespace

std::uint32_t ImportedProcess::thread(std::uint32_t tid, const std::string& name) {
  const auto it = std::find_if(threads.begin(), threads.end(),
                               [&](const ImportedThread& t) { return t.tid == tid && t.name == name; });
  if (it != threads.end()) return static_cast<std::uint32_t>(it - threads.begin());
  threads.push_back({tid, name});
  return static_cast<std::uint32_t>(threads.size() - 1);
}

int ImportedProcess::group(const ImportedGroup& group) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].name != group.name || groups[i].ranks != group.ranks) continue;
    if (group.status) groups[i].status = group.status;
    return static_cast<int>(i);
  }
  groups.push_back(group);
  return static_cast<int>(groups.size() - 1);
}

void ImportedProcess::merge(ImportedProcess other) {
  if (rank < 0) rank = other.rank;
  if (local_rank < 0) local_rank = other.local_rank;
  world_size = std::max(world_size, other.world_size);
  if (pid == 0) pid = other.pid;
  if (host.empty()) host = other.host;
  if (!exit) exit = std::move(other.exit);
  std::vector<std::uint32_t> thread_of;
  for (const ImportedThread& one : other.threads) thread_of.push_back(thread(one.tid, one.name));
  std::vector<int> group_of;
  for (const ImportedGroup& one : other.groups) group_of.push_back(group(one));
  for (ImportedCall& call : other.calls) {
    if (call.group >= 0) call.group = group_of[static_cast<std::size_t>(call.group)];
    if (call.thread < thread_of.size()) call.thread = thread_of[call.thread];
  }
  for (ImportedRange& range : other.ranges)
    if (range.thread < thread_of.size()) range.thread = thread_of[range.thread];
  append(facts, std::move(other.facts));
  // Only what no format can say is lacking.
  if (formats.empty()) lacks = other.lacks;
  std::erase_if(lacks, [&](const std::string& one) {
    return std::find(other.lacks.begin(), other.lacks.end(), one) == other.lacks.end();
  });
  append_new(formats, other.formats);
  append(calls, std::move(other.calls));
  append(allocations, std::move(other.allocations));
  append(ranges, std::move(other.ranges));
  append(samples, std::move(other.samples));
  append(stacks, std::move(other.stacks));
}

}  // namespace plumbline::reader::imports
