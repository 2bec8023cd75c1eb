#include "checks/capture_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace plumbline::checks {
namespace {

std::string name_of_file(const std::string& path) { return std::filesystem::path(path).filename().string(); }

const reader::Trace* trace_of(const reader::Run& run, const reader::ProcessInfo& process) {
  for (const reader::Trace& trace : run.traces()) {
    const reader::ProcessInfo& one = trace.definitions().process;
    if (one.host == process.host && one.pid == process.pid && one.attempt == process.attempt) return &trace;
  }
  return nullptr;
}

void add_losses_of(const reader::Run& run, const reader::CaptureFile& file, std::vector<CaptureLoss>& losses) {
  const std::string name = name_of_file(file.path());
  const int rank = file.process().rank;
  const reader::Trace* trace = trace_of(run, file.process());
  const bool ended = trace != nullptr && trace->clean_end();
  for (const reader::Damage& damage : file.damage()) {
    if (damage.cut_off && !ended) continue;
    losses.push_back({name, rank, "captures are damaged: " + damage.what});
  }
  if (!ended || file.clean_end() || !file.damage().empty()) return;
  losses.push_back({name, rank, "captures end before the process did: what followed was not written, or is cut off"});
}

// Damage in a file that is there is told with its rank.
bool of_opened(const reader::RunCaptures& captures, const std::string& complaint) {
  return std::any_of(captures.files().begin(), captures.files().end(),
                     [&](const reader::CaptureFile& file) { return complaint.starts_with(file.path() + ": "); });
}

// Processes that stepped an optimizer without leaving captures, in a run where others did.
void add_absent(const Subject& subject, std::vector<CaptureLoss>& losses) {
  const reader::RunCaptures& captures = subject.captures();
  if (captures.empty()) return;
  std::set<std::pair<int, int>> captured;  // attempt, rank
  for (const reader::CaptureFile& file : captures.files()) {
    if (!file.captures().empty()) captured.emplace(file.process().attempt, file.process().rank);
  }
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) {
    const reader::Trace& trace = subject.run().traces()[index];
    const bool peers = std::any_of(captured.begin(), captured.end(),
                                   [&](const auto& one) { return one.first == trace.attempt() && one.second >= 0; });
    if (trace.rank() < 0 || !peers || !trace.clean_end() || captured.contains({trace.attempt(), trace.rank()}))
      continue;
    const auto steps = static_cast<std::size_t>(recorder::Kind::kStepBegin);
    if (subject.summaries()[index].events[steps] == 0) continue;
    losses.push_back({"", trace.rank(), "there are no captures of it, though it trained as others did"});
  }
}

}  // namespace

std::vector<CaptureLoss> capture_losses(const Subject& subject) {
  std::vector<CaptureLoss> losses;
  const reader::RunCaptures& captures = subject.captures();
  for (const std::string& complaint : captures.complaints()) {
    if (!of_opened(captures, complaint)) losses.push_back({"", -1, "captures are left out: " + complaint});
  }
  for (const reader::CaptureFile& file : captures.files()) add_losses_of(subject.run(), file, losses);
  add_absent(subject, losses);
  return losses;
}

std::string loss_text(const CaptureLoss& loss) {
  if (loss.rank >= 0) return fmt::format("rank {}: {}", loss.rank, loss.what);
  return loss.file.empty() ? loss.what : loss.file + ": " + loss.what;
}

void qualify(Verdict& verdict, const std::vector<CaptureLoss>& losses) {
  if (losses.empty()) return;
  for (const CaptureLoss& loss : losses) verdict.unknown.push_back(loss_text(loss));
  if (verdict.status != Status::kPass) return;
  verdict.status = Status::kInconclusive;
  verdict.reason = "part of what was captured is lost; of the rest: " + verdict.reason;
}

}  // namespace plumbline::checks
