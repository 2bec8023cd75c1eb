#include "checks/check.hpp"

#include <array>

#include "checks/unfinished.hpp"

namespace plumbline::checks {

std::span<const Check> all_checks() {
  static constexpr std::array kChecks = {
      Check{"unfinished", "did every rank join and finish every collective of its groups", check_unfinished},
  };
  return kChecks;
}

}  // namespace plumbline::checks
