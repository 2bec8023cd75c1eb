// Shapes of the batches of a run, as its traces recorded them: what the embedding of the tokens was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/run_dimensions.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

struct BatchShape {
  std::uint64_t time_ns = 0;  // on the trace's own clock
  std::uint64_t rows = 0;
  std::uint64_t length = 0;  // tokens of each row

  bool operator==(const BatchShape&) const = default;
};

// In order of time, one for each time that the model was given a batch.
std::vector<BatchShape> batch_shapes(const reader::Trace& trace);

// The batch that a rank was at, at that time.
std::optional<BatchShape> batch_at(const std::vector<BatchShape>& shapes, std::uint64_t time_ns);

// `given`, with what the traces know besides: vocabulary and hidden size where they are not given, and, unless a batch
// is given, the shape that trace `index` was at at `time_ns` and those of whole steps that had one shape alone.
RunDimensions with_recorded(const Subject& subject, std::size_t index, std::uint64_t time_ns, RunDimensions given);

// "the batch then: 4 rows of 10600 tokens, the longest so far (before it at most 512)"; empty where it is not known.
std::string batch_text(const reader::Trace& trace, std::uint64_t time_ns);

}  // namespace plumbline::checks
