// Wrong results of collectives, gathered into findings: one for each group, operation and cause, at its first call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "checks/collective_calls.hpp"
#include "checks/subject.hpp"
#include "checks/verdict.hpp"

namespace plumbline::checks {

struct WrongResult {
  const CapturedCall* call = nullptr;
  std::size_t tensor = 0;
  std::vector<std::int32_t> ranks;  // whose output is wrong
  std::string cause;                // a clause without a subject
  std::string kind;                 // findings of one kind are one; empty: the cause itself
  std::vector<std::string> details;
  std::string next;
  bool certain = true;  // false: it may be no fault of the collective
};

class CollectiveFindings {
 public:
  void add(WrongResult result);
  bool empty() const { return kinds_.empty(); }
  std::vector<Finding> findings(const Subject& subject) const;

 private:
  struct Gathered {
    WrongResult first;
    std::vector<std::int32_t> ranks;
    std::vector<const CapturedCall*> calls;
  };
  std::map<std::tuple<bool, std::uint64_t, recorder::Op, recorder::ReduceOp, std::string>, Gathered> kinds_;
};

}  // namespace plumbline::checks
