// The logits of a fused head, made again one row at a time, each with a bound on its distance from what the job may
// have computed.
#pragma once

#include <string>
#include <vector>

#include "checks/detail.hpp"
#include "checks/raw_tensor.hpp"

namespace plumbline::checks {

// What the function does to the logits between projection and cross-entropy, by its arguments.
struct HeadSettings {
  double ignore_index = -100;
  std::string reduction = "mean";
  double label_smoothing = 0;
  double scale = 1;    // times the logits
  double softcap = 0;  // 0: none
  double temperature = 1;
  std::vector<std::string> unknown;  // arguments that may change the loss in a way that is not known
};

HeadSettings head_settings(const Detail& detail);

class HeadLogits {
 public:
  // Rows of `width` hidden states each; `weight` is (classes, width), `bias` may have nothing. `detail` of head.hidden
  // says in which type they are multiplied.
  HeadLogits(const RawTensor& hidden, const RawTensor& weight, const RawTensor& bias, std::size_t width,
             const HeadSettings& settings, const Detail& detail);

  std::size_t classes() const { return classes_; }

  // Sets `logits`, and returns the bound that holds for each of them.
  double row(std::size_t row, std::vector<double>& logits);

 private:
  void read(const RawTensor& from, std::size_t first, std::size_t count, std::vector<double>& values) const;

  const RawTensor& hidden_;
  std::size_t width_;
  std::size_t classes_;
  const HeadSettings& settings_;
  recorder::Dtype computed_;  // the projection's result
  double product_unit_;       // of one product in its sum
  std::vector<double> weight_;
  std::vector<double> bias_;
  double longest_ = 0;  // norm of a class's weights
  std::vector<double> values_;
};

}  // namespace plumbline::checks
