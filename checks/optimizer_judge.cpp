#include "checks/optimizer_judge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "checks/vector_clones.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kBlock = 256;
constexpr std::size_t kLanes = 8;
constexpr double kLargest = std::numeric_limits<double>::max();

using Column = std::array<double, kBlock>;

// In a fixed order, whatever the width of the processor's vectors.
double sum_of(const Column& column, std::size_t count) {
  std::array<double, kLanes> lanes{};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += column[i + lane];
  }
  for (std::size_t i = count - count % kLanes; i < count; ++i) lanes[0] += column[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

double largest_of(const Column& column, std::size_t count) {
  std::array<double, kLanes> lanes{};
  for (std::size_t i = 0; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = column[i + lane] > lanes[lane] ? column[i + lane] : lanes[lane];
  }
  for (std::size_t i = count - count % kLanes; i < count; ++i) lanes[0] = std::max(lanes[0], column[i]);
  return *std::max_element(lanes.begin(), lanes.end());
}

std::size_t count_of(const Column& flags, std::size_t count) { return static_cast<std::size_t>(sum_of(flags, count)); }

// Of one block: flags are 0 or 1, so that they add up.
struct Judged {
  Column value, error;  // expected
  Column ratio;         // deviation over its bound: infinite where either is no number, 0 where it is not judged
  Column judged, beyond;
  Column moving, move, unmoved, unmoved_move;
};

// Selections, no branches: several elements are compared at once.
void compare(Judged& j, const double* actual, const double* before, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double known = std::fabs(j.value[i]) <= kLargest ? 1 : 0;
    const double judged = std::fabs(j.error[i]) <= kLargest ? known : 0;
    const double deviation = std::fabs(actual[i] - j.value[i]);
    const double quotient = deviation / j.error[i];
    const double number = quotient >= 0 ? quotient : HUGE_VAL;
    const double ratio = deviation == 0 ? 0 : number;
    const double distance = std::fabs(j.value[i] - before[i]);
    const double moved = distance > 0 ? distance : 0;
    const double move = judged > 0 ? moved : 0;
    const double unmoved = actual[i] == before[i] ? move : 0;
    j.ratio[i] = judged > 0 ? ratio : 0;
    j.judged[i] = judged;
    j.beyond[i] = j.ratio[i] > 1 ? 1 : 0;
    j.move[i] = move;
    j.moving[i] = move > 0 ? 1 : 0;
    j.unmoved_move[i] = unmoved;
    j.unmoved[i] = unmoved > 0 ? 1 : 0;
  }
}

PLUMBLINE_VECTOR_CLONES void judge_block(TensorOutcome& outcome, std::size_t first, const Bounded* expected,
                                         const double* actual, const double* before, std::size_t count) {
  Judged j;
  for (std::size_t i = 0; i < count; ++i) {
    j.value[i] = expected[i].value;
    j.error[i] = expected[i].error;
  }
  compare(j, actual, before, count);
  outcome.judged += count_of(j.judged, count);
  outcome.beyond += count_of(j.beyond, count);
  outcome.moving += count_of(j.moving, count);
  outcome.unmoved += count_of(j.unmoved, count);
  outcome.moving_sum += sum_of(j.move, count);
  outcome.unmoved_sum += sum_of(j.unmoved_move, count);
  const double largest = largest_of(j.ratio, count);
  if (largest <= outcome.largest) return;
  const auto at = static_cast<std::size_t>(std::find(j.ratio.begin(), j.ratio.end(), largest) - j.ratio.begin());
  outcome.largest = largest;
  outcome.place = first + at;
  outcome.expected = expected[at].value;
  outcome.actual = actual[at];
  outcome.bound = expected[at].error;
}

PLUMBLINE_VECTOR_CLONES void leverage_block(ParameterOutcome& outcome, std::size_t first, const Bounded* expected,
                                            const double* before, std::size_t count) {
  Column leverage;
  for (std::size_t i = 0; i < count; ++i) {
    const double one = std::fabs(expected[i].value - before[i]) / expected[i].error;
    leverage[i] = one <= kLargest ? one : 0;
  }
  const double largest = largest_of(leverage, count);
  if (largest <= outcome.leverage) return;
  outcome.leverage = largest;
  outcome.leverage_place =
      first + static_cast<std::size_t>(std::find(leverage.begin(), leverage.end(), largest) - leverage.begin());
}

// Distance from a number to the middle between it and the next one of larger magnitude.
double half_spacing(double value, double unit) {
  const auto exponent = std::bit_cast<std::uint64_t>(value) & 0x7ff0'0000'0000'0000U;
  return std::bit_cast<double>(exponent) * unit;
}

PLUMBLINE_VECTOR_CLONES void decay_block(ParameterOutcome& outcome, const double* before, std::size_t count,
                                         double decay, double unit) {
  Column decaying;
  Column lost;
  for (std::size_t i = 0; i < count; ++i) {
    const bool decays = before[i] != 0;
    decaying[i] = decays ? 1 : 0;
    const double one = std::fabs(before[i]) * decay <= half_spacing(before[i], unit) ? 1 : 0;
    lost[i] = decays ? one : 0;
  }
  outcome.decaying += count_of(decaying, count);
  outcome.decay_lost += count_of(lost, count);
}

constexpr Column kZeros{};

}  // namespace

void judge(TensorOutcome& outcome, std::size_t first, std::span<const Bounded> expected, std::span<const double> actual,
           std::span<const double> before) {
  for (std::size_t i = 0; i < expected.size(); i += kBlock) {
    const double* const from = before.empty() ? kZeros.data() : before.data() + i;
    judge_block(outcome, first + i, expected.data() + i, actual.data() + i, from,
                std::min(kBlock, expected.size() - i));
  }
}

void judge_leverage(ParameterOutcome& outcome, std::size_t first, std::span<const Bounded> expected,
                    std::span<const double> before) {
  for (std::size_t i = 0; i < expected.size(); i += kBlock)
    leverage_block(outcome, first + i, expected.data() + i, before.data() + i, std::min(kBlock, expected.size() - i));
}

void judge_decay(ParameterOutcome& outcome, std::span<const double> before, double decay, double unit) {
  for (std::size_t i = 0; i < before.size(); i += kBlock)
    decay_block(outcome, before.data() + i, std::min(kBlock, before.size() - i), decay, unit);
}

}  // namespace plumbline::checks
