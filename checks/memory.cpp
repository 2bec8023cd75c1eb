#include "checks/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "checks/batch_shapes.hpp"
#include "checks/call_text.hpp"
#include "checks/memory_request.hpp"
#include "checks/whereabouts.hpp"
#include "checks/words.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

std::string pool_text(const MemoryPool& pool) {
  const std::string source(reader::name_of(pool.source));
  return pool.device < 0 ? source : fmt::format("{}, device {}", source, pool.device);
}

class Teller {
 public:
  Teller(const Subject& subject, const std::vector<MemoryProfile>& profiles, const RunDimensions& dimensions)
      : subject_(subject), profiles_(profiles), dimensions_(dimensions) {}

  Finding refused(std::size_t index, const std::vector<std::int32_t>& ranks) const {
    const reader::Trace& trace = trace_of(index);
    const MemoryProfile& profile = profiles_[index];
    const RefusedRequest& first = profile.refused.front();
    const MemoryBlock& block = first.event.block;
    const MemoryPool& pool = profile.pools[block.pool].pool;
    Finding finding;
    finding.ranks = ranks;
    finding.affected = ranks;
    finding.time_ns = subject_.clock().since_start(index, block.time_ns);
    finding.title = fmt::format("{}: a request for {} failed ({}) at {}{}", ranks_phrase(ranks), bytes_text(block.size),
                                pool_text(pool), time_text(subject_.seconds(index, block.time_ns)),
                                step_clause(trace, block.time_ns));
    finding.details.push_back(fmt::format("held then: {} from the same source", bytes_text(first.live.bytes)));
    const std::string line = line_of_request(trace, block.size, block.time_ns);
    if (!line.empty()) finding.details.push_back("asked for by " + line);
    if (block.range != 0) finding.details.push_back(fmt::format("inside {}", trace.text(block.range)));
    tell_missing(trace, first, finding);
    if (std::string batch = batch_text(trace, block.time_ns); !batch.empty())
      finding.details.push_back(std::move(batch));
    const RunDimensions dimensions = with_recorded(subject_, index, block.time_ns, dimensions_);
    const auto lines = explanation_lines(explain_request(subject_, index, first, pool, dimensions), block.size);
    finding.details.insert(finding.details.end(), lines.begin(), lines.end());
    tell_held(trace, first.live, finding);
    tell_further(profile, finding);
    finding.descent.rank = fmt::format("{}{}", ranks_phrase(ranks), step_clause(trace, block.time_ns));
    if (block.range != 0) finding.descent.rank += fmt::format(", in {}", trace.text(block.range));
    finding.descent.component = fmt::format("allocator: {}", pool_text(pool));
    finding.descent.operation = fmt::format("a request for {} ({} B)", bytes_text(block.size), block.size);
    finding.descent.line = line;
    finding.next = lines.empty() ? "give the dimensions (--config or --dims) to explain the size"
                                 : "cap the row length, or make that tensor in chunks, and run this step again";
    if (is_fragmented(first)) {
      finding.title += ", for fragmentation";
      finding.next =
          "run with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which joins unused pieces; then look for sizes "
          "that vary from step to step";
    }
    for (const RefusedRequest& one : profile.refused) finding.evidence.push_back(evidence(index, one.event));
    return finding;
  }

  Finding leaking(std::size_t index, const Leak& leak, const std::vector<std::int32_t>& ranks) const {
    const reader::Trace& trace = trace_of(index);
    const MemoryPool& pool = profiles_[index].pools[leak.pool].pool;
    Finding finding;
    // Frees that the trace lost would look the same.
    const bool doubtful = leak.lost_frees * 10 > leak.blocks;
    finding.status = doubtful ? Status::kInconclusive : Status::kFail;
    finding.ranks = ranks;
    finding.affected = ranks;
    finding.title = fmt::format("{}: every step leaves {} behind ({}), steps {} to {}", ranks_phrase(ranks),
                                bytes_text(leak.bytes_per_step()), pool_text(pool), leak.first_step, leak.last_step);
    finding.details.push_back(fmt::format("held at the end of step {}: {}; of step {}: {}", leak.first_step,
                                          bytes_text(leak.live_then), trace.steps().count() - 1,
                                          bytes_text(leak.live_last)));
    finding.details.push_back(fmt::format("{} of {} steps left something behind that no later step freed",
                                          leak.leaving_steps, leak.last_step - leak.first_step + 1));
    for (const LeakClass& one : leak.classes) {
      if (finding.details.size() > 4) break;
      finding.details.push_back(class_text(trace, one));
    }
    if (doubtful)
      finding.unknown.push_back(
          fmt::format("{} frees are missing from the trace: blocks that look held may be free", leak.lost_frees));
    finding.descent.rank = ranks_phrase(ranks);
    finding.descent.component = fmt::format("allocator: {}", pool_text(pool));
    const LeakClass& most = leak.classes.front();
    finding.descent.operation = fmt::format("blocks of {}", size_text(most));
    finding.descent.line = line_of_request(trace, most.example_size, most.example_ns);
    finding.next = "look for tensors kept across steps: a loss added up without .item(), a growing list or cache";
    return finding;
  }

 private:
  const reader::Trace& trace_of(std::size_t index) const { return subject_.run().traces()[index]; }

  static std::string size_text(const LeakClass& one) {
    return one.least == one.most ? bytes_text(one.least)
                                 : fmt::format("{} to {}", bytes_text(one.least), bytes_text(one.most));
  }

  static std::string class_text(const reader::Trace& trace, const LeakClass& one) {
    std::string text = fmt::format("{} block{} of {}", one.blocks, one.blocks == 1 ? "" : "s", size_text(one));
    if (one.range != 0) text += fmt::format(", made in {}", trace.text(one.range));
    const std::string line = line_of_request(trace, one.example_size, one.example_ns);
    if (!line.empty()) text += fmt::format(", by {}", line);
    return text;
  }

  // There was enough, but not in one piece.
  static bool is_fragmented(const RefusedRequest& request) {
    const std::uint64_t size = request.event.block.size;
    return request.live.reserved > 0 && request.live.unused >= size && request.live.largest_hole < size;
  }

  static void tell_missing(const reader::Trace& trace, const RefusedRequest& request, Finding& finding) {
    const std::uint64_t size = request.event.block.size;
    const LiveSet& live = request.live;
    if (live.reserved > 0) {
      finding.details.push_back(
          fmt::format("reserved by the caching allocator: {}, of that in no block: {}, in one "
                      "piece at most {}",
                      bytes_text(live.reserved), bytes_text(live.unused), bytes_text(live.largest_hole)));
      if (is_fragmented(request))
        finding.details.push_back("fragmentation: the unused pieces together would have been enough");
    }
    if (const auto free = free_bytes(trace); free && *free < size) {
      finding.details.push_back(
          fmt::format("free on the device: {}, so {} were missing", bytes_text(*free), bytes_text(size - *free)));
    } else {
      finding.unknown.emplace_back("how much was free then is not recorded");
    }
  }

  static void tell_held(const reader::Trace& trace, const LiveSet& live, Finding& finding) {
    for (const LiveGroup& group : live.groups) {
      if (group.bytes * 50 < live.bytes) break;
      std::string text = fmt::format("{} in {} block{} {}", bytes_text(group.bytes), group.blocks,
                                     group.blocks == 1 ? "" : "s", origin_text(trace, group, live.step));
      const std::string line = line_of_request(trace, group.largest.size, group.largest.time_ns);
      text += fmt::format(", the largest {}", bytes_text(group.largest.size));
      if (!line.empty()) text += fmt::format(" by {}", line);
      finding.details.push_back(std::move(text));
    }
  }

  static void tell_further(const MemoryProfile& profile, Finding& finding) {
    const std::uint64_t more = profile.refused.size() - 1 + profile.refused_more;
    if (more > 0)
      finding.details.push_back(fmt::format("{} more request{} failed after it", more, more == 1 ? "" : "s"));
    if (profile.refused.front().went_on) finding.details.emplace_back("the job went on after it");
  }

  Evidence evidence(std::size_t index, const MemoryEvent& event) const {
    const reader::Trace& trace = trace_of(index);
    Evidence one;
    one.trace = trace.path();
    one.rank = trace.rank();
    one.step = trace.steps().count() == 0 ? -1 : event.step;
    one.time_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, subject_.clock().since_start(index, event.time_ns)));
    one.frame_offset = event.frame_offset;
    one.shows = fmt::format("request for {} bytes failed", event.block.size);
    return one;
  }

  const Subject& subject_;
  const std::vector<MemoryProfile>& profiles_;
  const RunDimensions& dimensions_;
};

}  // namespace

std::vector<MemoryProfile> memory_profiles(const Subject& subject, bool all) {
  std::vector<MemoryProfile> profiles(subject.run().traces().size());
  const std::vector<reader::TraceSummary>& summaries = subject.summaries();
  subject.run().for_each_trace([&](std::size_t index, const reader::Trace& trace) {
    const auto& allocations = summaries[index].allocations;
    const bool failed = std::any_of(allocations.begin(), allocations.end(),
                                    [](const reader::AllocationStats& stats) { return stats.failures > 0; });
    const bool long_enough = !allocations.empty() && trace.steps().count() >= kFewestStepsForALeak;
    if (all || failed || long_enough) profiles[index] = memory_profile_of(trace);
  });
  return profiles;
}

Verdict check_memory(const Subject& subject, const std::vector<MemoryProfile>& profiles,
                     const RunDimensions& dimensions) {
  Verdict verdict;
  verdict.check = "memory";
  std::uint64_t requests = 0;
  bool leaks_judged = false;
  // Ranks that failed at the same request, or leak at the same rate, are one finding.
  std::map<std::tuple<std::uint64_t, recorder::Source, std::int64_t>, std::vector<std::size_t>> refused;
  std::map<std::tuple<std::uint64_t, recorder::Source>, std::vector<std::pair<std::size_t, std::size_t>>> leaking;
  for (std::size_t index = 0; index < profiles.size(); ++index) {
    for (const reader::AllocationStats& stats : subject.summaries()[index].allocations)
      requests += stats.allocations + stats.failures;
    const MemoryProfile& profile = profiles[index];
    leaks_judged = leaks_judged || profile.leak_judged;
    if (!profile.refused.empty()) {
      const MemoryEvent& event = profile.refused.front().event;
      refused[{event.block.size, profile.pools[event.block.pool].pool.source, event.step}].push_back(index);
    }
    for (std::size_t leak = 0; leak < profile.leaks.size(); ++leak)
      leaking[{profile.leaks[leak].bytes, profile.pools[profile.leaks[leak].pool].pool.source}].push_back(
          {index, leak});
  }
  const Teller teller(subject, profiles, dimensions);
  const auto rank_of = [&](std::size_t index) {
    return static_cast<std::int32_t>(subject.run().traces()[index].rank());
  };
  for (const auto& [what, traces] : refused) {
    std::vector<std::int32_t> ranks;
    for (const std::size_t index : traces) ranks.push_back(rank_of(index));
    verdict.findings.push_back(teller.refused(traces.front(), ranks));
  }
  for (const auto& [what, leaks] : leaking) {
    std::vector<std::int32_t> ranks;
    for (const auto& [index, leak] : leaks) ranks.push_back(rank_of(index));
    const auto [index, leak] = leaks.front();
    verdict.findings.push_back(teller.leaking(index, profiles[index].leaks[leak], ranks));
  }
  std::stable_sort(verdict.findings.begin(), verdict.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.status < b.status; });
  const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                 [](const Finding& finding) { return finding.status == Status::kFail; });
  if (requests == 0) {
    verdict.reason = "no allocation was recorded";
    return verdict;
  }
  if (!leaks_judged) {
    verdict.unknown.push_back(
        fmt::format("whether memory leaks: that needs at least {} whole steps", kFewestStepsForALeak));
  }
  if (!verdict.findings.empty()) {
    verdict.status = fails ? Status::kFail : Status::kInconclusive;
    verdict.reason = !refused.empty() ? "requests for memory failed" : "what is held grows with the steps";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = leaks_judged ? "every recorded request for memory was granted, and what is held does not grow"
                                  : "every recorded request for memory was granted";
  }
  return verdict;
}

Verdict check_memory(const Subject& subject) { return check_memory(subject, memory_profiles(subject, false), {}); }

}  // namespace plumbline::checks
