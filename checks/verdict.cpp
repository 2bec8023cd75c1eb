#include "checks/verdict.hpp"

namespace plumbline::checks {

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kFail:
      return "fail";
    case Status::kInconclusive:
      return "inconclusive";
    case Status::kNotEvaluated:
      return "not_evaluated";
  }
  return "unknown";
}

}  // namespace plumbline::checks
