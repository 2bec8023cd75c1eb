// How long a rank may wait before the wait is a hang: judged by how long the run's own collectives have taken.
#pragma once

#include <cstdint>

#include "checks/group_fronts.hpp"
#include "checks/subject.hpp"

namespace plumbline::checks {

struct Patience {
  std::int64_t observed_ns = 0;  // the latest moment that anything is known of, on the run's clock
  std::uint64_t longest_ns = 0;  // the longest that a collective took which ended
  std::uint64_t limit_ns = 0;    // a wait longer than this is a hang

  std::uint64_t age(std::int64_t since_ns) const {
    return observed_ns > since_ns ? static_cast<std::uint64_t>(observed_ns - since_ns) : 0;
  }
  bool is_over(std::int64_t since_ns) const { return age(since_ns) > limit_ns; }
};

Patience patience_of(const Subject& subject, Attempt attempt);

}  // namespace plumbline::checks
