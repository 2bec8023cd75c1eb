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

// Processes that stepped an optimizer without leaving captures, in a run where others did.
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
