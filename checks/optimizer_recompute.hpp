// One parameter's update computed anew and compared with what was recorded, element by element.
//
// Whole tensors are taken in chunks, so that a large embedding costs no more memory than its captured bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "checks/optimizer_capture.hpp"
#include "checks/optimizer_rules/rule.hpp"

namespace plumbline::checks {

// Captured elements as they are in the file.
struct RawTensor {
  recorder::Dtype dtype = recorder::Dtype::kUnknown;
  std::vector<std::uint8_t> bytes;

  bool there() const { return !bytes.empty(); }
  std::size_t count() const;
  void decode(std::size_t first, std::size_t count, std::vector<double>& values) const;
  bool operator==(const RawTensor&) const = default;
};

// Loads captures from several threads: those of one file one after the other.
class CaptureLoader {
 public:
  explicit CaptureLoader(reader::RunCaptures& captures) : captures_(captures), files_(captures.files().size()) {}
  RawTensor load(const Capture* capture);
  double number(const Capture* capture);
  // Empty where there are none.
  std::vector<double> values(const Capture* capture);

 private:
  reader::RunCaptures& captures_;
  std::vector<std::mutex> files_;
};

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

struct TensorOutcome {
  std::size_t judged = 0;
  std::size_t beyond = 0;                  // elements outside of their bound
  std::size_t moving = 0;                  // should change
  std::size_t unmoved = 0;                 // of these: did not
  double moving_sum = 0, unmoved_sum = 0;  // by how much they should
  // Largest deviation over its bound, and where.
  double largest = 0;
  std::size_t place = 0;
  double expected = 0, actual = 0, bound = 0;
};

struct ParameterOutcome {
  TensorOutcome param;
  std::array<TensorOutcome, kMostStates> state;
  std::size_t decaying = 0;    // entries that weight decay alone should change
  std::size_t decay_lost = 0;  // of these: less than half a unit in the last place
  double leverage = 0;         // largest update over its bound
  std::size_t leverage_place = 0;
  bool non_finite = false;  // some gradient, state or parameter is

  bool agrees() const;
};

ParameterOutcome evaluate(const ParameterData& data, const Hypothesis& hypothesis);

// Calls `visit` with inputs and predictions of each chunk, and where it begins.
using ChunkVisit = std::function<void(const RuleInputs&, const Predicted&, std::size_t first)>;
void predict(const ParameterData& data, const Hypothesis& hypothesis, const ChunkVisit& visit);

}  // namespace plumbline::checks
