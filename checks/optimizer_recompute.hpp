// One parameter's update computed anew and compared with what was recorded, element by element.
//
// Tensors are read and compared in chunks, so that a large embedding needs no more memory than a small one.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checks/capture_loader.hpp"
#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_judge.hpp"
#include "checks/optimizer_rules/rule.hpp"

namespace plumbline::checks {

struct ParameterData {
  const CapturedParameter* parameter = nullptr;
  const Rule* rule = nullptr;
  RuleSettings settings;
  RawTensor grad, before, after;
  std::array<RawTensor, kMostStates> state_before, state_after;
  std::array<bool, kMostStates> uses{};
  double counter_before = 0, counter_after = 0;  // `step`; NaN: not there
  double step = 1;                               // of the parameter, for its bias correction
  double mu_product = 1;
  bool first = false;  // it had no state before
  std::vector<std::uint64_t> shape;

  std::vector<RawTensor*> tensors();
  std::uint64_t bytes() const;
  // Every tensor into memory, where it is to be looked at more than once.
  void hold();
  // False once elements could not be read: the file has changed.
  bool readable() const;
};

// Nothing when it cannot be recomputed; `why` then says so.
std::optional<ParameterData> load_parameter(CaptureLoader& loader, const CapturedStep& step,
                                            const CapturedParameter& parameter, const Rule& rule, std::string& why);

// How an update may have been computed. Made from a parameter's data, it is what its settings say.
struct Hypothesis {
  explicit Hypothesis(const ParameterData& data) : settings(data.settings), step(data.step), grad(&data.grad) {}
  RuleSettings settings;
  Supposition supposition;
  double step;
  const RawTensor* grad;
  bool new_state = false;                                // as if there had been none before
  unsigned times = 1;                                    // applied so often, from the same gradient
  recorder::Dtype narrowed = recorder::Dtype::kUnknown;  // results were also rounded to it
};

ParameterOutcome evaluate(const ParameterData& data, const Hypothesis& hypothesis);

// As the settings say. No setting says that a step is compiled, or that betas are tensors: where coefficients that are
// made on the device explain what the settings do not, `data` has these from then on.
ParameterOutcome evaluate_as_set(ParameterData& data);

// Calls `visit` with inputs and predictions of each chunk, and where it begins.
using ChunkVisit = std::function<void(const RuleInputs&, const Predicted&, std::size_t first)>;
void predict(const ParameterData& data, const Hypothesis& hypothesis, const ChunkVisit& visit);

}  // namespace plumbline::checks
