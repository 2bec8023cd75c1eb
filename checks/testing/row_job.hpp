// Captures of the forward passes of one rank: token ids as rows, with mask, positions and labels where given.
#pragma once

#include <string>
#include <vector>

#include "checks/testing/capture_job.hpp"

namespace plumbline::checks::testing {

using Ids = std::vector<std::int64_t>;

struct RowPass {
  std::uint64_t rows = 1;
  Ids ids{};
  Ids mask{};       // empty: none
  Ids positions{};  // likewise
  Ids labels{};     // likewise
  std::string detail{};
  std::int64_t step = 0;
  std::uint32_t micro = 0;
};

inline void write_rows(const std::string& directory, const std::vector<RowPass>& passes, std::int32_t rank = 0) {
  CaptureJob job(directory, rank);
  for (const RowPass& pass : passes) {
    const std::vector<std::uint64_t> shape = {pass.rows, pass.ids.size() / pass.rows};
    const auto put = [&](const char* probe, const Ids& values, const std::vector<std::uint64_t>& of) {
      if (values.empty()) return;
      job.tensor(probe, "Model", pass.step, Dtype::kInt64, of, bytes_of(values),
                 {.detail = pass.detail, .occurrence = pass.micro});
    };
    put("input_ids", pass.ids, shape);
    put("attention_mask", pass.mask, shape);
    put("position_ids", pass.positions, shape);
    put("labels", pass.labels, {pass.labels.size()});
  }
  job.finish();
}

}  // namespace plumbline::checks::testing
