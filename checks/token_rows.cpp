#include "checks/token_rows.hpp"

namespace plumbline::checks {
namespace {

std::vector<double> beside(CaptureLoader& loader, const Capture* capture, const Capture& ids) {
  std::vector<double> values;
  if (capture == nullptr || capture->shape != ids.shape || capture->captured() != capture->elements()) return values;
  const RawTensor raw = loader.load(capture);
  if (raw.count() == ids.elements()) raw.decode(0, raw.count(), values);
  return values;
}

}  // namespace

std::optional<TokenRows> token_rows(CaptureLoader& loader, const Capture* ids, const Capture* mask,
                                    const Capture* positions) {
  if (ids == nullptr || ids->shape.size() != 2 || ids->captured() != ids->elements()) return std::nullopt;
  TokenRows rows;
  rows.batch = ids->shape[0];
  rows.length = ids->shape[1];
  const RawTensor raw = loader.load(ids);
  if (raw.count() != ids->elements() || raw.count() == 0) return std::nullopt;
  raw.decode(0, raw.count(), rows.ids);
  rows.mask = beside(loader, mask, *ids);
  rows.positions = beside(loader, positions, *ids);
  return rows;
}

const Capture* captured_beside(const reader::RunCaptures& captures, std::string_view probe, const Capture& capture) {
  for (const Capture* one : captures.select(probe, capture.step, {}, capture.rank)) {
    if (one->occurrence == capture.occurrence) return one;
  }
  return nullptr;
}

std::vector<Document> documents_of(const TokenRows& rows) {
  std::vector<Document> documents;
  for (std::size_t row = 0; row < rows.batch; ++row) {
    const std::size_t first = row * rows.length;
    std::size_t begin = 0;
    std::size_t end = rows.length;
    while (!rows.mask.empty() && begin < end && rows.mask[first + begin] == 0) ++begin;
    while (!rows.mask.empty() && end > begin && rows.mask[first + end - 1] == 0) --end;
    for (std::size_t place = begin + 1; place + 1 < end && !rows.positions.empty(); ++place) {
      // Padding may stand at position 0 throughout.
      if (rows.positions[first + place] != 0 || rows.positions[first + place + 1] == 0) continue;
      documents.push_back({row, begin, place});
      begin = place;
    }
    if (begin < end) documents.push_back({row, begin, end});
  }
  return documents;
}

}  // namespace plumbline::checks
