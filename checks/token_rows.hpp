// The token ids of one captured batch, row by row, and the documents in them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "checks/optimizer_recompute.hpp"

namespace plumbline::checks {

struct TokenRows {
  std::size_t batch = 0;
  std::size_t length = 0;  // of a row
  std::vector<double> ids;
  std::vector<double> mask;       // empty: none
  std::vector<double> positions;  // likewise

  double at(std::size_t row, std::size_t place) const { return ids[row * length + place]; }
};

// Nothing when they were not captured whole, or are no rows. Mask and positions count where they have the same shape.
std::optional<TokenRows> token_rows(CaptureLoader& loader, const Capture* ids, const Capture* mask,
                                    const Capture* positions = nullptr);

// What another probe captured of the same forward pass: the first of its names. Null when nothing.
const Capture* captured_beside(const reader::RunCaptures& captures, std::string_view probe, const Capture& capture);

struct Document {
  std::size_t row = 0;
  std::size_t begin = 0;  // places of the row
  std::size_t end = 0;
};

// A row without its padding; one that positions divide is as many as they begin anew.
std::vector<Document> documents_of(const TokenRows& rows);

}  // namespace plumbline::checks
