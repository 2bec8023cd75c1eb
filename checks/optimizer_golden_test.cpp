// Steps that PyTorch itself took (testing/make_optimizer_golden.py) must agree with the rules, each within its bound,
// and must not once they are spoilt.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "checks/optimizer.hpp"
#include "checks/testing/capture_job.hpp"
#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks {
namespace {

using reader::testing::open_run;
using reader::testing::TempDir;
using recorder::Dtype;
using testing::CaptureJob;

struct GoldenTensor {
  std::int64_t step = 0;
  std::string probe, name;
  Dtype dtype = Dtype::kUnknown;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;
};

struct GoldenCase {
  std::string name, class_name, group;
  std::vector<GoldenTensor> tensors;
};

Dtype dtype_of(const std::string& name) {
  if (name == "float32") return Dtype::kFloat32;
  if (name == "float64") return Dtype::kFloat64;
  if (name == "float16") return Dtype::kFloat16;
  return Dtype::kBfloat16;
}

GoldenTensor tensor_of(std::istringstream& line, std::int64_t step) {
  GoldenTensor tensor;
  std::string dtype;
  std::string shape;
  std::string hex;
  line >> tensor.probe >> tensor.name >> dtype >> shape >> hex;
  tensor.step = step;
  tensor.dtype = dtype_of(dtype);
  std::istringstream extents(shape == "-" ? "" : shape);
  for (std::string extent; std::getline(extents, extent, ',');) tensor.shape.push_back(std::stoull(extent));
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    tensor.bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return tensor;
}

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  std::ifstream file(PLUMBLINE_OPTIMIZER_GOLDEN);
  std::int64_t step = 0;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "case") {
      GoldenCase& one = cases.emplace_back();
      line >> one.name >> one.class_name >> one.group;
    } else if (word == "step") {
      line >> step;
    } else if (word == "tensor") {
      cases.back().tensors.push_back(tensor_of(line, step));
    }
  }
  return cases;
}

Verdict judge(const GoldenCase& golden, OptimizerMargins& margins) {
  const TempDir directory;
  testing::write_trace(directory.path());
  CaptureJob job(directory.path(), 0);
  std::int64_t noted = -1;
  for (const GoldenTensor& tensor : golden.tensors) {
    if (tensor.step != noted) job.step_note(noted = tensor.step, golden.class_name, {golden.group});
    job.tensor(tensor.probe, tensor.name, tensor.step, tensor.dtype, tensor.shape, tensor.bytes);
  }
  job.finish();
  const reader::Run run = open_run(directory.path());
  return check_optimizer(Subject(run), margins);
}

TEST(OptimizerGolden, WhatPyTorchDidAgreesWithinTheBound) {
  const std::vector<GoldenCase> cases = golden_cases();
  ASSERT_GT(cases.size(), 80u);
  for (const GoldenCase& golden : cases) {
    OptimizerMargins margins;
    const Verdict verdict = judge(golden, margins);
    std::string said = verdict.reason;
    for (const Finding& finding : verdict.findings)
      said += "\n  " + finding.title + (finding.details.empty() ? "" : "\n    " + finding.details.front());
    for (const std::string& unknown : verdict.unknown) said += "\n  " + unknown;
    EXPECT_EQ(margins.smallest_deviating, 0) << golden.name << ": " << said;
    EXPECT_EQ(margins.tensors, golden.class_name == "Muon" ? 3u : 6u) << golden.name << ": " << said;
    EXPECT_LE(margins.largest_agreeing, 1) << golden.name;
    // Only narrow parameters may be too coarse for their updates.
    if (golden.name.find(":float32:") != std::string::npos && golden.class_name != "Muon") {
      EXPECT_EQ(verdict.status, Status::kPass) << golden.name << ": " << said;
    }
    if (std::getenv("PLUMBLINE_SHOW_MARGINS") != nullptr)
      printf("%-100s %s %.3f\n", golden.name.c_str(), std::string(name_of(verdict.status)).c_str(),
             margins.largest_agreeing);
  }
}

}  // namespace
}  // namespace plumbline::checks
