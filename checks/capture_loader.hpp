// Captured elements for checks that look at many tensors at once.
#pragma once

#include <mutex>
#include <vector>

#include "checks/raw_tensor.hpp"
#include "reader/captures.hpp"

namespace plumbline::checks {

// For several threads: what is loaded from one file is loaded one after the other.
class CaptureLoader {
 public:
  explicit CaptureLoader(reader::RunCaptures& captures) : captures_(captures), files_(captures.files().size()) {}

  // Into memory. Of a null pointer, or where no elements were captured: an empty one.
  RawTensor load(const reader::Capture* capture);
  // A large one is left in the file, and read as its elements are asked for.
  RawTensor stream(const reader::Capture* capture);
  double number(const reader::Capture* capture);
  // Empty where there are none.
  std::vector<double> values(const reader::Capture* capture);

 private:
  reader::RunCaptures& captures_;
  std::vector<std::mutex> files_;
};

}  // namespace plumbline::checks
