// Which optimizer steps are looked at, and how much of each probe is kept: PLUMBLINE_CAPTURE_STEPS and
// PLUMBLINE_CAPTURE, over what the level does by itself.
//
//   CapturePlan plan(Level::kWatch, "0-2,%200", "grad=full,state=none");
//   if (plan.step(7)) wish = plan.wish("state.exp_avg.before");
//
// Steps: numbers, ranges, multiples (%200: 0, 200, 400 …), "all" or "none". Amounts: `full`, `sample:16`, `hash`,
// `stats`, joined by +, or `none`. A name stands for the probes that begin with it, the longest one wins, * for all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/capture.hpp"
#include "recorder/level.hpp"

namespace plumbline::recorder {

class CapturePlan {
 public:
  CapturePlan() = default;
  // Texts that were not understood count as empty; see understands_*.
  CapturePlan(Level level, std::string_view steps, std::string_view amounts);

  bool step(std::int64_t step) const noexcept;
  CaptureWish wish(std::string_view probe) const noexcept;

  static bool understands_steps(std::string_view text);
  static bool understands_amounts(std::string_view text);

 private:
  struct Steps {
    std::int64_t first;
    std::int64_t last;
    std::int64_t every;
  };
  struct Amount {
    std::string probe;
    CaptureWish wish;
  };
  bool add_steps(std::string_view text);
  bool add_amounts(std::string_view text);

  std::vector<Steps> steps_;
  std::vector<Amount> amounts_;  // later ones before earlier ones of the same length
};

}  // namespace plumbline::recorder
