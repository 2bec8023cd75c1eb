#include "checks/memory_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_set>

#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

using recorder::Kind;
using recorder::Source;

// Smaller requests are no tensors of a batch, and there are too many of them.
constexpr std::uint64_t kLeastSize = 4096;
constexpr std::size_t kMostSizes = 4096;  // of a step

std::vector<SizeRounding> roundings_of(Source source) {
  if (source == Source::kCpu || source == Source::kCudaHost) return {SizeRounding::kNone};
  return {SizeRounding::kNone, SizeRounding::kBlock, SizeRounding::kSegment};
}

// What each whole step before the failure, or of other ranks, asked of the same source.
void add_steps(const reader::Trace& trace, const MemoryPool& pool, const RunDimensions& dimensions,
               std::vector<AskedSizes>& observations) {
  std::map<std::int64_t, std::unordered_set<std::uint64_t>> sizes;
  const reader::StepTimeline& steps = trace.steps();
  for (const StepShape& shape : dimensions.shapes) {
    const bool own = shape.rank == -1 || shape.rank == trace.rank();
    if (own && shape.step >= 0 && shape.step < steps.count()) sizes[shape.step];
  }
  if (sizes.empty()) return;
  reader::Query query{.kinds = reader::kAllocations};
  query.from_ns = steps.window(sizes.begin()->first).from_ns;
  query.to_ns = steps.window(sizes.rbegin()->first).to_ns;
  trace.read(query, [&](const reader::FrameView& frame) {
    for (const reader::AllocationBatch& batch : frame.allocations) {
      for (std::size_t row = 0; row < batch.count; ++row) {
        const auto tag = static_cast<std::uint32_t>(batch.tag[row]);
        if (static_cast<Kind>(batch.kind[row]) != Kind::kAlloc || batch.size[row] < kLeastSize) continue;
        if (recorder::source_of(tag) != pool.source || recorder::device_of(tag) != pool.device) continue;
        const auto step = sizes.find(steps.step_at(batch.time_ns[row]));
        if (step != sizes.end() && step->second.size() < kMostSizes) step->second.insert(batch.size[row]);
      }
    }
    return true;
  });
  for (const auto& [step, asked] : sizes) {
    if (asked.empty()) continue;
    AskedSizes one;
    one.shape = dimensions.shape_at(step, trace.rank());
    one.sizes.assign(asked.begin(), asked.end());
    one.rank = trace.rank();
    one.step = step;
    observations.push_back(std::move(one));
  }
}

std::string next_row_text(const Formula& formula, std::vector<Dimension> values, std::uint64_t size) {
  const bool by_length = value_of(values, kLength).has_value();
  const std::string name(by_length ? kLength : value_of(values, kTokens) ? kTokens : kRows);
  const auto rows = value_of(values, name);
  if (!rows || formula.row_power() == 0) return {};
  values.push_back({name, *rows + 1});
  const auto next = formula.bytes_at(values);
  values.push_back({name, *rows * 2});
  const auto twice = formula.bytes_at(values);
  if (!next || !twice) return {};
  return fmt::format("{}: at {} = {} it is {}, at {} {} (+{}), at twice as much {}", growth_text(formula), name, *rows,
                     bytes_text(size), *rows + 1, bytes_text(*next), bytes_text(*next - std::min(*next, size)),
                     bytes_text(*twice));
}

}  // namespace

RequestExplanation explain_request(const Subject& subject, std::size_t trace_index, const RefusedRequest& request,
                                   const MemoryPool& pool, const RunDimensions& dimensions) {
  RequestExplanation explanation;
  if (dimensions.fixed.empty() && dimensions.shapes.empty()) return explanation;
  const reader::Trace& trace = subject.run().traces()[trace_index];
  explanation.model = dimensions.of_model();
  explanation.shape = dimensions.shape_at(request.event.step, trace.rank());
  if (explanation.shape.empty()) explanation.shape = dimensions.of_batch();
  const std::vector<SizeRounding> roundings = roundings_of(pool.source);
  AskedSizes failed;
  failed.shape = explanation.shape;
  failed.sizes = {request.event.block.size};
  failed.rank = trace.rank();
  failed.step = request.event.step;
  std::vector<AskedSizes> observations = {failed};
  if (explanation.shape.empty()) {
    explanation.sizes = explain_rows(explanation.model, observations, roundings);
    return explanation;
  }
  for (const reader::Trace& other : subject.run().traces()) {
    if (other.attempt() == trace.attempt() && other.launch() == trace.launch())
      add_steps(other, pool, dimensions, observations);
  }
  explanation.sizes = explain_sizes(explanation.model, observations, roundings);
  return explanation;
}

std::vector<std::string> explanation_lines(const RequestExplanation& explanation, std::uint64_t size) {
  std::vector<std::string> lines;
  const SizeExplanation& sizes = explanation.sizes;
  if (sizes.classes.empty()) return lines;
  std::vector<Dimension> values = explanation.model;
  values.insert(values.end(), explanation.shape.begin(), explanation.shape.end());
  if (!sizes.rows.empty()) values.push_back({std::string(kRows), sizes.rows.front()});
  const Formula& first = sizes.classes.front().formula;
  lines.push_back(fmt::format("{} B = {}: {}", size, first.text_with(values), first.text()));
  lines.push_back(
      sizes.observations == 1
          ? "the formula rests on this one request; a second row length would prove or refute it"
          : fmt::format("the formula fits this request and all {} steps whose shape is known", sizes.observations - 1));
  if (std::string next = next_row_text(first, values, size); !next.empty()) lines.push_back(std::move(next));
  for (const Formula& other : sizes.classes.front().others) lines.push_back("the same number: " + other.text());
  for (std::size_t index = 1; index < sizes.classes.size(); ++index)
    lines.push_back("not told apart from: " + sizes.classes[index].formula.text());
  if (sizes.more > 0) lines.push_back(fmt::format("and {} more that fit as well", sizes.more));
  return lines;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{" bytes", 1.0}, {" KiB", 1024.0}, {" MiB", 1048576.0}, {" GiB", 1073741824.0}, {" TiB", 1099511627776.0}}};
  for (const auto& [name, factor] : kUnits) {
    if (unit.starts_with(name) && number * factor < 9e18) return static_cast<std::uint64_t>(number * factor);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> free_bytes(const reader::Trace& trace) {
  if (const std::string_view fact = trace.definitions().fact("memory.device_free_at_failure"); !fact.empty())
    return parse_bytes(std::string(fact) + " bytes");
  // "GPU 0 has a total capacity of 79.15 GiB of which 20.11 GiB is free."
  const std::string_view message = trace.exit() == nullptr ? std::string_view{} : trace.exit()->exception_message;
  constexpr std::string_view kBefore = " of which ";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos || message.find(" is free", at) == std::string_view::npos) return std::nullopt;
  return parse_bytes(message.substr(at + kBefore.size()));
}

}  // namespace plumbline::checks
