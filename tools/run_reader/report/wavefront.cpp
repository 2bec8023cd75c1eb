#include "tools/run_reader/report/wavefront.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checks/call_text.hpp"
#include "checks/words.hpp"
#include "reader/collectives.hpp"
#include "reader/group_key.hpp"
#include "tools/run_reader/report/html.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

constexpr std::size_t kMostRows = 200;
constexpr std::size_t kRanksTold = 32;  // of one group

std::string number(std::int64_t seq) { return seq < 0 ? "none" : fmt::format("#{}", seq); }

struct Progress {
  const reader::Group* group = nullptr;
  Front front;
  reader::Collective last;
};

void follow(const reader::Collective& call, Progress& progress) {
  const auto seq = static_cast<std::int64_t>(call.seq);
  if (seq > progress.front.called) {
    progress.front.called = seq;
    progress.last = call;
  }
  if (call.start_ns != 0) progress.front.started = std::max(progress.front.started, seq);
  if (call.settled()) progress.front.completed = std::max(progress.front.completed, seq);
}

std::string rows_of(const GroupFront& group) {
  std::string rows;
  const std::string head = fmt::format("{} ({})", group.name, ranks_phrase({group.ranks.begin(), group.ranks.end()}));
  if (group.level()) {
    return "<tr>" + element("td", head) + element("td", "all") + element("td", number(group.fronts[0].called)) +
           element("td", number(group.fronts[0].completed)) + element("td", group.fronts[0].last_call) +
           "<td></td></tr>";
  }
  std::size_t told = 0;
  for (const Front& front : group.fronts) {
    if (++told > kRanksTold) break;
    rows += "<tr class=\"uneven\">" + element("td", head) + element("td", std::to_string(front.rank)) +
            element("td", number(front.called)) + element("td", number(front.completed)) +
            element("td", front.last_call) + element("td", front.site) + "</tr>";
  }
  return rows;
}

}  // namespace

bool GroupFront::level() const {
  return std::all_of(fronts.begin(), fronts.end(), [&](const Front& front) {
    return front.called == fronts.front().called && front.completed == front.called;
  });
}

std::vector<GroupFront> group_fronts(const Context& context) {
  std::map<std::string, GroupFront> groups;
  for (const reader::Trace& trace : context.run.traces()) {
    if (trace.launch() != context.run.launches() - 1 || trace.attempt() != context.run.last_attempt()) continue;
    std::map<std::uint64_t, Progress> progress;
    reader::read_collectives(trace, {.steps = false}, [&](const reader::Collective& call) {
      if (call.parent != 0 || reader::is_point_to_point(call.op)) return true;
      Progress& one = progress[call.group];
      one.group = trace.group(call.group);
      follow(call, one);
      return true;
    });
    for (auto& [id, one] : progress) {
      if (one.group == nullptr) continue;
      GroupFront& group = groups[reader::group_key(trace, *one.group)];
      group.name = checks::group_name(*one.group);
      group.ranks = one.group->ranks;
      one.front.rank = trace.rank();
      one.front.last_call = checks::call_text(one.last);
      if (one.last.site != 0) one.front.site = trace.text(one.last.site);
      group.fronts.push_back(std::move(one.front));
    }
  }
  std::vector<GroupFront> result;
  result.reserve(groups.size());
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  std::stable_sort(result.begin(), result.end(),
                   [](const GroupFront& a, const GroupFront& b) { return !a.level() && b.level(); });
  return result;
}

std::string wavefront_html(const std::vector<GroupFront>& groups) {
  if (groups.empty()) return element("p", "No collective was recorded.");
  std::string html =
      "<table><tr><th>process group</th><th>rank</th><th>called</th><th>finished</th><th>last call</th>"
      "<th>line</th></tr>";
  for (std::size_t index = 0; index < groups.size() && index < kMostRows; ++index) html += rows_of(groups[index]);
  html += "</table>\n";
  if (groups.size() > kMostRows) {
    html += element("p", fmt::format("{} more groups are level or not shown.", groups.size() - kMostRows));
  }
  return html;
}

}  // namespace plumbline::tools
