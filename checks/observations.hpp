// What a check of captured tensors saw, tensor by tensor and step by step, gathered into findings: one for each kind of
// fault, with the first step at which it acts, and all tensors and ranks that show it.
//
//   observations.add({.kind = "frozen", .rank = 1, .step = 0, .tensor = "head.bias", .words = "changed …"});
//   verdict.findings = observations.findings(subject);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct Observation {
  std::string kind;  // with `component` it tells one finding from another
  Status status = Status::kFail;
  std::int32_t rank = -1;
  std::int64_t step = -1;
  std::string tensor;  // empty: of all
  std::string words;   // a clause whose subject is the tensor
  std::vector<std::string> details;
  std::string next;
  std::string component;  // optimizer …
  const reader::Capture* capture = nullptr;
  std::vector<std::int32_t> ranks{};  // in place of `rank`, where several are guilty together
};

class Observations {
 public:
  void add(Observation observation);
  bool empty() const { return kinds_.empty(); }
  // Failures first, then by the step at which they begin.
  std::vector<Finding> findings(const Subject& subject) const;

 private:
  struct Gathered {
    Observation first;
    std::vector<std::int32_t> ranks;
    std::vector<std::string> tensors;           // of the first step, in the order of sight
    std::map<std::string, std::int64_t> since;  // by tensor: the first step
    std::vector<std::int64_t> steps;
    std::vector<Observation> evidence;  // a few
  };
  std::map<std::pair<std::string, std::string>, Gathered> kinds_;
};

// Where a capture is in the run's files.
Evidence evidence_of(const Subject& subject, const reader::Capture& capture, std::string shows);

}  // namespace plumbline::checks
