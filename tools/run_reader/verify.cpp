// `verify`: is what was recorded all there, and if not, what is missing and what was still read.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "checks/capture_losses.hpp"
#include "reader/names.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/json_out.hpp"
#include "tools/run_reader/style.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

struct TraceReport {
  std::string file;
  std::string label;  // "rank 3", or "a process without a rank"
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::string ending;
  bool running = false;
  std::vector<std::string> losses;   // sentences
  std::vector<std::string> notices;  // sentences
};

std::uint64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

bool ring_has_the_rest(const reader::Trace& trace) {
  return trace.ring_join() == reader::RingJoin::kJoined || trace.ring_join() == reader::RingJoin::kNothingNew;
}

std::string_view ending_text(const reader::Trace& trace, bool running) {
  if (trace.clean_end()) return "clean end";
  if (running && ring_has_the_rest(trace)) return "still running, so far with what its ring holds";
  switch (trace.ring_join()) {
    case reader::RingJoin::kJoined:
      return "no clean end, tail taken from the ring";
    case reader::RingJoin::kNothingNew:
      return "no clean end, nothing left in the ring";
    case reader::RingJoin::kUnusable:
      return "no clean end, ring unusable";
    case reader::RingJoin::kNone:
      return "no clean end, no ring";
    case reader::RingJoin::kNotNeeded:
      break;
  }
  return "no clean end";
}

void add_drops(const reader::Trace& trace, TraceReport& report) {
  for (std::size_t kind = 0; kind < trace.dropped().size(); ++kind) {
    const std::uint64_t dropped = trace.dropped()[kind];
    if (dropped == 0) continue;
    report.losses.push_back(fmt::format("{} {} dropped by a full ring (a larger PLUMBLINE_RING_KB avoids it)",
                                        plural(dropped, "event"), reader::name_of(static_cast<recorder::Kind>(kind))));
  }
}

void add_evictions(const reader::Trace& trace, TraceReport& report) {
  for (const reader::EvictedRange& range : trace.evicted()) {
    std::uint64_t events = 0;
    for (const std::uint64_t count : range.events) events += count;
    report.losses.push_back(fmt::format("{} in {} evicted by the size cap (PLUMBLINE_MAX_MB)", plural(events, "event"),
                                        plural(range.frames, "frame")));
  }
}

TraceReport report_on(const Context& context, std::size_t index) {
  const reader::Trace& trace = context.run.traces()[index];
  TraceReport report;
  report.file = base_name(trace.path().empty() ? trace.ring_path() : trace.path());
  report.label = trace.rank() >= 0 ? fmt::format("rank {}", trace.rank()) : fmt::format("process {}", trace.pid());
  if (trace.attempt() > 0) report.label += fmt::format(", attempt {}", trace.attempt());
  report.bytes = file_bytes(trace.path());
  for (const std::uint64_t count : context.subject.summaries()[index].events) report.events += count;
  report.running = context.subject.ending(index).kind == checks::EndingKind::kRunning;
  report.ending = ending_text(trace, report.running);
  for (const reader::Damage& damage : trace.damage()) {
    // The frame that is being written: a notice below.
    if (damage.cut_off && ring_has_the_rest(trace)) continue;
    report.losses.push_back(fmt::format("{} bytes at {}: {}", count_text(damage.bytes), damage.offset, damage.what));
  }
  add_drops(trace, report);
  add_evictions(trace, report);
  if (const reader::RecordingStop* stop = trace.stop()) {
    report.losses.push_back(fmt::format("what the process did after its recording had ended at {:.3f} s: {}",
                                        context.subject.seconds(index, stop->time_ns), stop->reason));
  }
  if (!trace.continued_in().empty()) {
    report.notices.push_back("the process was replaced by exec; it goes on in " + base_name(trace.continued_in()));
  }
  if (trace.ring_path().empty() && !trace.clean_end()) {
    report.losses.push_back("no ring file beside it: what was not yet written when the process ended is lost");
  }
  for (const reader::Stat& stat : trace.stats().rows()) {
    if (stat.severity == reader::Severity::kNotice && !stat.detail.empty()) report.notices.push_back(stat.detail);
    if (stat.severity == reader::Severity::kDataLoss && (report.losses.empty() || stat.name == "traces_joined")) {
      report.losses.push_back(stat.detail);
    }
  }
  return report;
}

// What a word of seven columns stands before; the word counts for the width.
std::string behind_word(const std::string& text) { return wrapped(std::string(9, ' ') + text, 9).substr(7) + '\n'; }

void print_as_text(const Context& context, const std::vector<TraceReport>& reports,
                   const std::vector<checks::CaptureLoss>& captures, bool lost) {
  const Style style(context.options.colour);
  for (const TraceReport& report : reports) {
    const bool whole = report.losses.empty();
    context.out << (whole ? style.green("whole  ") : style.yellow("partial"))
                << behind_word(fmt::format("{} ({}): {}, {} read, {}", printable(report.file), report.label,
                                           bytes_text(report.bytes), plural(report.events, "event"), report.ending));
    for (const std::string& loss : report.losses)
      context.out << wrapped("         lost: " + printable(loss), 15) << '\n';
    for (const std::string& notice : report.notices) {
      context.out << wrapped("         note: " + printable(notice), 15) << '\n';
    }
  }
  for (const checks::CaptureLoss& loss : captures) {
    context.out << style.yellow("partial") << behind_word("captures: " + printable(checks::loss_text(loss)));
  }
  for (const reader::Run::Skipped& skipped : context.run.skipped()) {
    context.out << style.yellow("skipped") << behind_word(printable(skipped.why));
  }
  for (const int rank : context.run.missing_ranks()) {
    context.out << style.yellow("missing") << fmt::format("  rank {}: there is no trace of it\n", rank);
  }
  if (context.run.launches() > 1) {
    context.out << fmt::format("note     {} share this directory\n",
                               plural(static_cast<std::uint64_t>(context.run.launches()), "launch", "launches"));
  }
  context.out << (lost ? "Part of the data is lost; everything else was read." : "Nothing is lost.");
  const auto running = static_cast<std::uint64_t>(
      std::count_if(reports.begin(), reports.end(), [](const TraceReport& report) { return report.running; }));
  if (running > 0) {
    context.out << fmt::format(" {} still at work: this is what there was by now.",
                               running == 1 ? "A process is" : plural(running, "process", "processes") + " are");
  }
  context.out << '\n';
}

void print_as_json(const Context& context, const std::vector<TraceReport>& reports,
                   const std::vector<checks::CaptureLoss>& captures, bool lost) {
  Json json;
  json["schema"] = "plumbline.verify.1";
  json["run"] = context.run.path();
  json["data_lost"] = lost;
  json["traces"] = Json::array();
  for (const TraceReport& report : reports) {
    json["traces"].push_back({{"file", report.file},
                              {"process", report.label},
                              {"bytes", report.bytes},
                              {"events", report.events},
                              {"ending", report.ending},
                              {"running", report.running},
                              {"losses", report.losses},
                              {"notices", report.notices}});
  }
  json["captures_lost"] = Json::array();
  for (const checks::CaptureLoss& loss : captures) {
    json["captures_lost"].push_back({{"file", loss.file}, {"rank", loss.rank}, {"what", loss.what}});
  }
  json["skipped"] = Json::array();
  for (const reader::Run::Skipped& skipped : context.run.skipped()) {
    json["skipped"].push_back({{"path", skipped.path}, {"why", skipped.why}});
  }
  json["missing_ranks"] = context.run.missing_ranks();
  print_json(context.out, json);
}

}  // namespace

int run_verify(const Context& context) {
  std::vector<TraceReport> reports;
  const std::vector<checks::CaptureLoss> captures = checks::capture_losses(context.subject);
  bool lost = context.run.stats().data_lost() || !captures.empty();
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    reports.push_back(report_on(context, index));
    lost = lost || !reports.back().losses.empty();
  }
  if (context.options.json) {
    print_as_json(context, reports, captures, lost);
  } else {
    print_as_text(context, reports, captures, lost);
  }
  return lost ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
