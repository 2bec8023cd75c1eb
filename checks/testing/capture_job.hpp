// The captures of a process that never was, tensor by tensor, for the tests of checks.
//
//   CaptureJob job(directory.path(), 0);
//   job.step_note(0, "AdamW", {R"({"settings":{"lr":0.1},"params":["w"]})"});
//   job.tensor("grad", "w", 0, Dtype::kFloat32, {3}, bytes_of<float>({1, 2, 3}));
//   job.finish();
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checks/testing/fake_rank.hpp"
#include "recorder/capture_writer.hpp"

namespace plumbline::checks::testing {

using recorder::Dtype;

struct TensorPlace {
  std::string detail;
  std::vector<std::uint64_t> global_shape{};
  std::vector<std::uint64_t> offset{};
  std::vector<std::int32_t> replicas{};
  std::uint32_t occurrence = 0;
  std::uint64_t key = 0;                 // 0: the job's optimizer
  std::vector<std::uint64_t> indices{};  // of a sample
  bool hashed = false;
  std::vector<std::uint64_t> blocks{};  // hashes
};

class CaptureJob {
 public:
  // Of the process that FakeRank is with the same rank and options.
  CaptureJob(const std::string& directory, std::int32_t rank, const RankOptions& options = {});

  void tensor(const std::string& probe, const std::string& name, std::int64_t step, Dtype dtype,
              const std::vector<std::uint64_t>& shape, std::span<const std::uint8_t> bytes,
              const TensorPlace& place = {});
  void note(const std::string& probe, const std::string& name, std::int64_t step, const std::string& detail,
            std::uint32_t occurrence = 0);
  // `optimizer.step` and an `optimizer.group` of each detail.
  void step_note(std::int64_t step, const std::string& class_name, const std::vector<std::string>& groups,
                 const std::string& module = "torch.optim", const std::vector<std::int32_t>& batch_ranks = {});
  void finish();

 private:
  recorder::CaptureWriter writer_;
  std::uint64_t time_ns_ = 1;
};

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(values.data());
  return {data, data + values.size() * sizeof(T)};
}

std::vector<std::uint8_t> bfloat16_bytes(const std::vector<double>& values);

}  // namespace plumbline::checks::testing
