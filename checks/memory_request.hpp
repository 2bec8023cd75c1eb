// Why a request was as large as it was, and how much was missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/memory_profile.hpp"
#include "checks/run_dimensions.hpp"
#include "checks/size_explainer.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

struct RequestExplanation {
  SizeExplanation sizes;
  std::vector<Dimension> shape;  // of the batch whose request failed, as far as known
  std::vector<Dimension> model;
};

// Over all steps and ranks whose shape is known: each must have asked for what the formula says.
RequestExplanation explain_request(const Subject& subject, std::size_t trace, const RefusedRequest& request,
                                   const MemoryPool& pool, const RunDimensions& dimensions);

// "51539729920 B = 84805 x 151936 x 4 B: rows x vocabulary x 4 B" and what follows from it; empty: nothing fits.
std::vector<std::string> explanation_lines(const RequestExplanation& explanation, std::uint64_t size);

// Bytes that were free where the request failed, as PyTorch's message or an imported snapshot says it.
std::optional<std::uint64_t> free_bytes(const reader::Trace& trace);
// "12.5 GiB" → bytes, as far as the digits go.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace plumbline::checks
