#include "checks/check.hpp"

#include <array>

#include "checks/endings.hpp"
#include "checks/failed_allocations.hpp"
#include "checks/unfinished.hpp"

namespace plumbline::checks {

std::span<const Check> all_checks() {
  static constexpr std::array kChecks = {
      Check{"unfinished", "did every rank join and finish every collective of its groups", check_unfinished},
      Check{"failed_allocations", "was every request for memory granted", check_failed_allocations},
      Check{"endings", "did every process end in order", check_endings},
  };
  return kChecks;
}

}  // namespace plumbline::checks
