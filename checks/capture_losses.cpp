#include "checks/capture_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).filename().string(); }

void add_losses_of(const reader::Run& run, const reader::CaptureFile& file, std::vector<CaptureLoss>& losses) {
  const std::string name = name_of_file(file.path());
  const int rank = file.process().rank;
  const std::optional<std::size_t> trace = reader::trace_of(run, file.process());
  const bool ended = trace && run.traces()[*trace].clean_end();
  for (const reader::Damage& damage : file.damage()) {
    if (damage.cut_off && !ended) continue;
    losses.push_back({name, rank, "captures are damaged: " + damage.what});
  }
  if (!ended || file.clean_end() || !file.damage().empty()) return;
  losses.push_back({name, rank, "captures end before the process did: what followed was not written, or is cut off"});
}

// Processes that wrote a file of captures which is not in the run directory.
class GoneFiles {
 public:
  explicit GoneFiles(const Subject& subject) : run_(subject.run()), sets_(subject.capture_sets()) {
    for (const reader::CaptureSet& set : sets_.all) add(set.captures.files());
    add(sets_.unused);
  }

  // The name of the file of a trace's process; empty: it wrote none, its file is there, or is told of as damaged.
  std::string_view of(std::size_t trace) const {
    std::error_code none;
    const std::string_view name = run_.traces()[trace].definitions().fact("captures.file");
    if (name.empty() || found_.contains(trace) || !std::filesystem::is_directory(run_.path(), none)) return {};
    const std::string path = (std::filesystem::path(run_.path()) / name).string();
    const bool damaged = std::any_of(sets_.damaged.begin(), sets_.damaged.end(),
                                     [&](const std::string& sentence) { return sentence.starts_with(path); });
    return damaged ? std::string_view() : name;
  }

 private:
  void add(const std::vector<reader::CaptureFile>& files) {
    for (const reader::CaptureFile& file : files) {
      if (const auto trace = reader::trace_of(run_, file.process())) found_.insert(*trace);
    }
  }

  const reader::Run& run_;
  const reader::CaptureSets& sets_;
  std::set<std::size_t> found_;  // traces whose processes left captures
};

void add_gone(const Subject& subject, std::vector<CaptureLoss>& losses) {
  const GoneFiles gone(subject);
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) {
    const std::string_view name = gone.of(index);
    if (!name.empty())
      losses.push_back({"", subject.run().traces()[index].rank(),
                        fmt::format("the captures that it wrote to {} are not there", name)});
  }
}

// Processes that stepped an optimizer and wrote no captures, in a start in which others did.
void add_absent(const Subject& subject, std::vector<CaptureLoss>& losses) {
  std::set<std::tuple<int, int, int>> captured;  // launch, attempt, rank
  for (const reader::CaptureSet& set : subject.capture_sets().all) {
    for (const int rank : set.captures.ranks()) captured.emplace(set.launch, set.attempt, rank);
  }
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) {
    const reader::Trace& trace = subject.run().traces()[index];
    const auto peer = captured.lower_bound({trace.launch(), trace.attempt(), 0});
    const bool peers =
        peer != captured.end() && std::get<0>(*peer) == trace.launch() && std::get<1>(*peer) == trace.attempt();
    if (!trace.definitions().fact("captures.file").empty()) continue;
    if (trace.rank() < 0 || !peers || !trace.clean_end() ||
        captured.contains({trace.launch(), trace.attempt(), trace.rank()}))
      continue;
    const auto steps = static_cast<std::size_t>(recorder::Kind::kStepBegin);
    if (subject.summaries()[index].events[steps] == 0) continue;
    losses.push_back({"", trace.rank(), "there are no captures of it, though it trained as others did"});
  }
}

// Ranks of the last start that left nothing at all.
void add_missing(const Subject& subject, std::vector<CaptureLoss>& losses) {
  const reader::CaptureSets& sets = subject.capture_sets();
  const std::vector<int> missing = subject.run().missing_ranks();
  if (missing.empty() || sets.all.empty()) return;
  const reader::CaptureSet& last = sets.all.back();
  if (last.launch != subject.run().launches() - 1 || last.attempt != subject.run().last_attempt()) return;
  losses.push_back({"", -1, fmt::format("there are neither captures nor a trace of {}", ranks_phrase(missing))});
}

}  // namespace

std::vector<CaptureLoss> capture_losses(const Subject& subject) {
  std::vector<CaptureLoss> losses;
  const reader::CaptureSets& sets = subject.capture_sets();
  for (const auto* complaints : {&sets.damaged, &sets.foreign}) {
    for (const std::string& complaint : *complaints) losses.push_back({"", -1, "captures are left out: " + complaint});
  }
  for (const reader::CaptureSet& set : sets.all) {
    for (const reader::CaptureFile& file : set.captures.files()) add_losses_of(subject.run(), file, losses);
  }
  for (const reader::CaptureFile& file : sets.unused) add_losses_of(subject.run(), file, losses);
  add_gone(subject, losses);
  add_absent(subject, losses);
  add_missing(subject, losses);
  return losses;
}

std::string loss_text(const CaptureLoss& loss) {
  if (loss.rank >= 0) return fmt::format("rank {}: {}", loss.rank, loss.what);
  return loss.file.empty() ? loss.what : loss.file + ": " + loss.what;
}

void qualify(Verdict& verdict, const std::vector<CaptureLoss>& losses) {
  std::vector<std::string> texts;
  for (const CaptureLoss& loss : losses) texts.push_back(loss_text(loss));
  leave_open(verdict, "part of what was captured is lost", std::move(texts));
}

void leave_open(Verdict& verdict, std::string_view why, std::vector<std::string> unknown) {
  if (unknown.empty()) return;
  verdict.unknown.insert(verdict.unknown.end(), std::make_move_iterator(unknown.begin()),
                         std::make_move_iterator(unknown.end()));
  if (verdict.status != Status::kPass) return;
  verdict.status = Status::kInconclusive;
  verdict.reason = fmt::format("{}; of the rest: {}", why, verdict.reason);
}

}  // namespace plumbline::checks
