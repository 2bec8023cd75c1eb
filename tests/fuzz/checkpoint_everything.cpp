#include "tests/fuzz/checkpoint_everything.hpp"

#include <cstdlib>

#include "checks/state_checks.hpp"
#include "reader/checkpoint/checkpoint.hpp"
#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::fuzz {

CheckpointOutcome read_checkpoint(const std::string& path) {
  const auto checkpoint = reader::open_checkpoint(path);
  if (!checkpoint.ok()) return {false, checkpoint.status().message(), {}, {}, 0};
  for (const reader::Tensor& tensor : checkpoint->tensors) {
    std::uint64_t elements = 1;
    for (const std::uint64_t size : tensor.shape) elements *= size;
    if (elements * size_of(tensor.dtype) != tensor.bytes.size()) std::abort();
  }
  // A state compared with itself: every tensor is read, and none may differ.
  const checks::StateInputs inputs{&*checkpoint, &*checkpoint, nullptr};
  if (checks::check_load(inputs).status == checks::Status::kFail && checkpoint->problems.empty()) std::abort();
  checks::check_resume(inputs);
  checks::check_export(inputs);
  CheckpointOutcome outcome{true, {}, {}, {}, checkpoint->tensors.size()};
  for (const reader::Problem& problem : checkpoint->problems) outcome.problems.push_back(problem.sentence);
  for (const reader::CheckpointFile& file : checkpoint->files) outcome.files.push_back(file.mapped->path());
  return outcome;
}

std::vector<std::pair<std::string, std::string>> checkpoint_seeds() {
  namespace testing = reader::testing;
  using testing::dict;
  using testing::list;
  using testing::tensor;
  const auto state = dict({{"exp_avg", tensor("", {2, 3}, 1)}, {"step", testing::tensor_of("", {}, {8})}});
  return {
      {"a.safetensors",
       testing::safetensors_bytes({tensor("embed.weight", {4, 3}, 1),
                                   tensor("head.weight", {2}, 2, reader::DType::kBF16), tensor("none", {0}, 3)})},
      {"a.pt", testing::torch_file_bytes(dict(
                   {{"model", dict({{"w", tensor("", {3, 2}, 1)}})},
                    {"optimizer", dict({{"state", dict({{0, state}})}, {"param_groups", list({dict({{"lr", 0.1}})})}})},
                    {"epoch", 3}}))}};
}

}  // namespace plumbline::fuzz
