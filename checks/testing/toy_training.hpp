// A model of two parameters that AdamW trains in float32, as PyTorch's kernels round, with places to put faults in; and
// its captures.
//
//   ToyTraining toy;
//   toy.lr_used = 2e-3;            // the group goes on to say 1e-3
//   toy.write(directory.path());
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checks/testing/capture_job.hpp"

namespace plumbline::checks::testing {

struct ToyParameter {
  std::string name;
  std::vector<float> values, grad, m, v;
  double counter = 0;
  bool requires_grad = true;
  bool has_grad = true;
  std::size_t group = 0;
  std::string module = "Linear";
};

struct ToyTraining {
  int rank = 0;
  int steps = 4;
  bool hashed = false;                      // captures carry hashes, as those of jobs do
  std::size_t elements = 32;                // of the larger parameter; the other one has half
  int from = 0;                             // the first step that is captured, as step 0: of a resumed run
  int seed = 1;                             // of the parameters
  int data_seed = 1;                        // of the gradients
  std::vector<std::int32_t> replicas{};     // declared
  std::vector<std::int32_t> batch_ranks{};  // likewise
  double lr = 1e-3, weight_decay = 0.1, beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  std::string module = "torch.optim.adamw";
  bool in_float32 = false;  // bias corrections are made so, as where a step is compiled or betas are tensors

  // Faults: what the update uses, where it differs from what the group says.
  double lr_used = 0;             // 0: lr
  double weight_decay_used = -1;  // below 0: weight_decay
  double gradient_factor = 1;
  int correction_offset = 0;  // added to the step of the bias correction
  bool corrects_bias = true;
  int times = 1;
  int fault_from = 0;      // the first step of the faults above
  std::string fault_in{};  // the only parameter of them; empty: all
  // Before a step's captures, and between the update and the captures after it.
  std::function<void(int step, ToyParameter&)> before_step = [](int, ToyParameter&) {};
  std::function<void(int step, ToyParameter&)> after_update = [](int, ToyParameter&) {};

  std::vector<ToyParameter> parameters() const;
  void write(const std::string& directory) const;

 private:
  void update(int step, ToyParameter& parameter) const;
};

}  // namespace plumbline::checks::testing
