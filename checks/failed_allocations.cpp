#include "checks/failed_allocations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "checks/call_text.hpp"
#include "checks/words.hpp"
#include "reader/allocations.hpp"
#include "reader/names.hpp"

namespace plumbline::checks {
namespace {

using recorder::Kind;
using recorder::Source;

struct Refused {
  std::uint64_t tag = 0;
  std::uint64_t size = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t live_bytes = 0;  // of that source and device, then
  std::uint64_t frame_offset = 0;
  bool granted_later = false;
};

bool may_be_retried(std::uint64_t tag) {
  const Source source = recorder::source_of(static_cast<std::uint32_t>(tag));
  return source == Source::kCudaMalloc || source == Source::kCudaAsync || source == Source::kCachingSegment;
}

std::uint64_t live_bytes(const reader::AllocationAnalyzer& analyzer, std::uint64_t tag) {
  const auto narrow = static_cast<std::uint32_t>(tag);
  for (const reader::AllocationStats& stats : analyzer.stats()) {
    if (stats.source == recorder::source_of(narrow) && stats.device == recorder::device_of(narrow)) {
      return stats.live_bytes;
    }
  }
  return 0;
}

// Frames are taken as wholes: what was live is known to within one frame.
std::vector<Refused> refused_of(const reader::Trace& trace) {
  std::vector<Refused> refused;
  reader::AllocationAnalyzer analyzer;
  reader::Query query;
  query.kinds = reader::kAllocations;
  trace.read(query, [&](const reader::FrameView& frame) {
    analyzer.add(frame);
    for (const reader::AllocationBatch& batch : frame.allocations) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        if (static_cast<Kind>(batch.kind[row]) == Kind::kAllocFailed) {
          refused.push_back({batch.tag[row], batch.size[row], batch.time_ns[row], live_bytes(analyzer, batch.tag[row]),
                             batch.place.frame_offset, false});
        } else if (static_cast<Kind>(batch.kind[row]) == Kind::kAlloc) {
          for (Refused& one : refused) {
            one.granted_later = one.granted_later || (one.tag == batch.tag[row] && batch.size[row] >= one.size &&
                                                      batch.time_ns[row] > one.time_ns);
          }
        }
      }
    }
    return true;
  });
  std::erase_if(refused, [](const Refused& one) { return one.granted_later && may_be_retried(one.tag); });
  return refused;
}

Finding finding_of(const Subject& subject, std::size_t index, const std::vector<Refused>& refused) {
  const reader::Trace& trace = subject.run().traces()[index];
  const Refused& first = refused.front();
  const auto tag = static_cast<std::uint32_t>(first.tag);
  const int device = recorder::device_of(tag);
  Finding finding;
  finding.ranks = {trace.rank()};
  finding.title =
      fmt::format("rank {}: a request for {} failed ({}{}) at {}{}", trace.rank(), bytes_text(first.size),
                  reader::name_of(recorder::source_of(tag)), device >= 0 ? fmt::format(", device {}", device) : "",
                  time_text(subject.seconds(index, first.time_ns)), step_clause(trace, first.time_ns));
  finding.details.push_back(fmt::format("held then: {} from the same source", bytes_text(first.live_bytes)));
  if (refused.size() > 1) {
    finding.details.push_back(
        fmt::format("{} more request{} failed after it", refused.size() - 1, refused.size() == 2 ? "" : "s"));
  }
  for (const Refused& one : refused) {
    Evidence evidence;
    evidence.trace = trace.path();
    evidence.rank = trace.rank();
    evidence.step = trace.steps().count() == 0 ? -1 : trace.steps().step_at(one.time_ns);
    evidence.time_ns =
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, subject.clock().since_start(index, one.time_ns)));
    evidence.frame_offset = one.frame_offset;
    evidence.shows = fmt::format("request for {} bytes failed", one.size);
    finding.evidence.push_back(std::move(evidence));
  }
  return finding;
}

}  // namespace

Verdict check_failed_allocations(const Subject& subject) {
  Verdict verdict;
  verdict.check = "failed_allocations";
  std::uint64_t requests = 0;
  for (std::size_t index = 0; index < subject.run().traces().size(); ++index) {
    std::uint64_t failures = 0;
    for (const reader::AllocationStats& stats : subject.summaries()[index].allocations) {
      requests += stats.allocations + stats.failures;
      failures += stats.failures;
    }
    if (failures == 0) continue;
    const std::vector<Refused> refused = refused_of(subject.run().traces()[index]);
    if (!refused.empty()) verdict.findings.push_back(finding_of(subject, index, refused));
  }
  if (!verdict.findings.empty()) {
    verdict.status = Status::kFail;
    verdict.reason = "requests for memory failed";
  } else if (requests == 0) {
    verdict.reason = "no allocation was recorded";
  } else {
    verdict.status = Status::kPass;
    verdict.reason = "every recorded request for memory was granted";
  }
  return verdict;
}

}  // namespace plumbline::checks
