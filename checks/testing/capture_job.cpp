#include "checks/testing/capture_job.hpp"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>
#include <bit>
#include <filesystem>

#include "checks/element_values.hpp"

namespace plumbline::checks::testing {

CaptureJob::CaptureJob(const std::string& directory, std::int32_t rank, const RankOptions& options) {
  std::filesystem::create_directories(directory + "/captures");
  recorder::Identity identity;
  identity.rank = rank;
  identity.host = options.host;
  identity.boot_id = options.boot_id;
  identity.pid = options.pid != 0 ? options.pid : 1000 + static_cast<std::uint32_t>(rank);
  identity.attempt = options.attempt;
  const auto error =
      writer_.create(directory + "/captures/rank" + std::to_string(rank) + ".plc", identity,
                     {options.start_monotonic_ns, options.start_realtime_ns}, recorder::Level::kDiagnose);
  EXPECT_FALSE(error) << *error;
}

void CaptureJob::tensor(const std::string& probe, const std::string& name, std::int64_t step, Dtype dtype,
                        const std::vector<std::uint64_t>& shape, std::span<const std::uint8_t> bytes,
                        const TensorPlace& place) {
  recorder::Capture row{};
  row.time_ns = time_ns_++;
  row.probe = probe.c_str();
  row.name = name.c_str();
  row.step = step;
  row.occurrence = place.occurrence;
  row.key = place.key != 0 ? place.key : 77;
  row.dtype = dtype;
  row.amount = place.indices.empty() ? recorder::CaptureAmount::kFull : recorder::CaptureAmount::kSample;
  row.blocks = place.blocks.data();
  row.block_count = place.blocks.size();
  row.indices = place.indices.data();
  row.index_count = place.indices.size();
  if (place.hashed) {
    row.hash_kind = recorder::CaptureHash::kXxh3;
    row.hash = XXH3_64bits(bytes.data(), bytes.size());
  }
  row.shape = shape.data();
  row.dimensions = shape.size();
  if (!place.global_shape.empty()) {
    row.global_shape = place.global_shape.data();
    row.offset = place.offset.data();
    row.global_dimensions = place.global_shape.size();
  }
  row.replicas = place.replicas.data();
  row.replica_count = place.replicas.size();
  row.data = bytes.data();
  row.data_bytes = bytes.size();
  row.detail = place.detail.c_str();
  const auto error = writer_.add(row);
  EXPECT_FALSE(error) << *error;
}

void CaptureJob::note(const std::string& probe, const std::string& name, std::int64_t step, const std::string& detail,
                      std::uint32_t occurrence) {
  recorder::Capture row{};
  row.time_ns = time_ns_++;
  row.probe = probe.c_str();
  row.name = name.c_str();
  row.step = step;
  row.occurrence = occurrence;
  row.key = 77;
  row.amount = recorder::CaptureAmount::kNote;
  row.detail = detail.c_str();
  const auto error = writer_.add(row);
  EXPECT_FALSE(error) << *error;
}

void CaptureJob::step_note(std::int64_t step, const std::string& class_name, const std::vector<std::string>& groups,
                           const std::string& module, const std::vector<std::int32_t>& batch_ranks) {
  note("optimizer.step", class_name, step,
       fmt::format(R"({{"class":"{}","module":"{}","groups":{},"optimizer":0,"batch_ranks":[{}]}})", class_name, module,
                   groups.size(), fmt::join(batch_ranks, ",")));
  for (std::size_t i = 0; i < groups.size(); ++i) note("optimizer.group", std::to_string(i), step, groups[i]);
}

void CaptureJob::finish() {
  const auto error = writer_.finish();
  EXPECT_FALSE(error) << *error;
}

std::vector<std::uint8_t> bfloat16_bytes(const std::vector<double>& values) {
  std::vector<std::uint16_t> bits;
  bits.reserve(values.size());
  for (const double value : values) {
    const auto rounded = static_cast<float>(rounded_to(Dtype::kBfloat16, value));
    bits.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(rounded) >> 16));
  }
  return bytes_of(bits);
}

}  // namespace plumbline::checks::testing
