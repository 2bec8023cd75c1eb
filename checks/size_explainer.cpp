#include "checks/size_explainer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace plumbline::checks {
namespace {

constexpr unsigned kMostFactors = 5;
constexpr std::size_t kMostClasses = 6;
constexpr std::size_t kMostNames = 3;
// Expected number of formulas that would fit by chance, above which a fit says nothing.
constexpr double kChance = 0.05;
constexpr std::array kElementBytes = {1U, 2U, 4U, 8U};
constexpr std::array kTimes = {1U, 2U, 3U};

struct Candidate {
  Formula formula;
  std::vector<unsigned> varying;  // powers of the dimensions that vary
  std::uint64_t unit = 0;         // product of all that does not vary
  unsigned factors = 0;           // powers counted

  // How much it claims. Elements of eight bytes are rarer than four of something in two bytes each.
  unsigned effort() const { return factors + (formula.times > 1 ? 1U : 0U) + (formula.element_bytes == 8 ? 1U : 0U); }
  unsigned oddity() const {
    return formula.element_bytes == 8 ? 4U : formula.times + (formula.element_bytes == 1 ? 1U : 0U);
  }
};

bool near(std::uint64_t predicted, std::uint64_t size, std::uint64_t tolerance) {
  return predicted > size ? predicted - size <= tolerance : size - predicted <= tolerance;
}

// What was asked for in other steps may have been recorded before it was rounded.
bool fits(const Formula& formula, const std::vector<Dimension>& values, const AskedSizes& observation) {
  const auto bytes = formula.bytes_at(values);
  return bytes && std::any_of(observation.sizes.begin(), observation.sizes.end(), [&](std::uint64_t size) {
           return near(*bytes, size, observation.tolerance) ||
                  near(*bytes, rounded(size, formula.rounding), observation.tolerance);
         });
}

// Every product of the dimensions that could be as large as the first observation's size.
class Search {
 public:
  Search(const std::vector<Dimension>& fixed, std::span<const AskedSizes> observations)
      : fixed_(fixed), observations_(observations) {
    for (const AskedSizes& one : observations) {
      std::vector<Dimension> values = one.shape;
      values.insert(values.end(), fixed.begin(), fixed.end());
      values_.push_back(std::move(values));
    }
    choose_dimensions();
    for (const std::uint64_t size : observations.front().sizes) limit_ = std::max(limit_, size);
    limit_ += observations.front().tolerance;
  }

  void run(SizeRounding rounding) {
    rounding_ = rounding;
    near_misses_.fill(0);
    found_.clear();
    powers_.assign(names_.size(), 0);
    descend(0, 1, 0);
  }

  SizeExplanation explanation() {
    const double luck = luck_per_formula();
    std::stable_sort(found_.begin(), found_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.effort(), a.oddity()) < std::pair(b.effort(), b.oddity());
    });
    SizeExplanation explanation;
    explanation.observations = observations_.size();
    std::map<std::pair<std::vector<unsigned>, std::uint64_t>, std::size_t> classes;
    std::vector<unsigned> effort;
    double by_chance = 0;
    unsigned counted = 0;
    for (const Candidate& one : found_) {
      while (counted <= one.factors) by_chance += static_cast<double>(near_misses_[counted++]) * luck;
      if (by_chance > kChance) break;
      const auto [entry, is_new] = classes.try_emplace({one.varying, one.unit}, explanation.classes.size());
      if (!is_new) {
        if (entry->second >= explanation.classes.size()) continue;
        std::vector<Formula>& others = explanation.classes[entry->second].others;
        if (one.effort() == effort[entry->second] && others.size() < kMostNames) others.push_back(one.formula);
      } else if (explanation.classes.size() < kMostClasses) {
        explanation.classes.push_back({one.formula, {}});
        effort.push_back(one.effort());
      } else {
        entry->second = kMostClasses;
        ++explanation.more;
      }
    }
    return explanation;
  }

 private:
  // A dimension that is one everywhere is no factor, and tokens that are batch x length no third dimension.
  void choose_dimensions() {
    bool tokens_follow = true;
    for (const std::vector<Dimension>& values : values_) {
      const auto batch = value_of(values, "batch");
      const auto length = value_of(values, kLength);
      const auto tokens = value_of(values, kTokens);
      tokens_follow = tokens_follow && batch && length && tokens && *batch * *length == *tokens;
    }
    for (const Dimension& one : values_.front()) {
      const auto same_name = [&](const Dimension& other) { return other.name == one.name; };
      if (std::find(names_.begin(), names_.end(), one.name) != names_.end()) continue;
      if (one.name == kTokens && tokens_follow) continue;
      bool everywhere = true;
      bool always_one = true;
      for (const std::vector<Dimension>& values : values_) {
        const auto value = value_of(values, one.name);
        everywhere = everywhere && value && *value > 0;
        always_one = always_one && value == std::uint64_t{1};
      }
      if (!everywhere || always_one) continue;
      names_.push_back(one.name);
      varies_.push_back(std::none_of(fixed_.begin(), fixed_.end(), same_name));
    }
  }

  void descend(std::size_t index, std::uint64_t value, unsigned factors) {
    if (index == names_.size()) {
      if (factors > 0) consider(value, factors);
      return;
    }
    const unsigned most = varies_[index] || names_[index] == "hidden" ? 2 : 1;
    const std::uint64_t dimension = *value_of(values_.front(), names_[index]);
    for (unsigned power = 0; power <= most && factors + power <= kMostFactors; ++power) {
      powers_[index] = power;
      descend(index + 1, value, factors + power);
      const auto next = product(value, dimension);
      if (!next || *next > limit_) break;
      value = *next;
    }
    powers_[index] = 0;
  }

  void consider(std::uint64_t value, unsigned factors) {
    for (const unsigned times : kTimes) {
      for (const unsigned bytes : kElementBytes) {
        const auto whole = product(value, std::uint64_t{times} * bytes);
        if (!whole || *whole / 2 > limit_) continue;
        count_near(*whole, factors);
        if (!hits_first(rounded(*whole, rounding_))) continue;
        keep_if_all_fit(times, bytes, factors);
      }
    }
  }

  bool hits_first(std::uint64_t predicted) const {
    const AskedSizes& first = observations_.front();
    return std::any_of(first.sizes.begin(), first.sizes.end(),
                       [&](std::uint64_t size) { return near(predicted, size, first.tolerance); });
  }

  // How dense the products lie around the size: that many within a factor of two on either side.
  void count_near(std::uint64_t whole, unsigned factors) {
    if (whole >= limit_ / 2) ++near_misses_[factors];
  }

  void keep_if_all_fit(unsigned times, unsigned bytes, unsigned factors) {
    Candidate candidate;
    candidate.formula = {{}, times, bytes, rounding_};
    candidate.unit = std::uint64_t{times} * bytes;
    candidate.factors = factors;
    for (std::size_t index = 0; index < names_.size(); ++index) {
      if (varies_[index]) candidate.varying.push_back(powers_[index]);
      if (powers_[index] == 0) continue;
      candidate.formula.factors.push_back({names_[index], powers_[index]});
      if (varies_[index]) continue;
      const std::uint64_t dimension = *value_of(values_.front(), names_[index]);
      for (unsigned power = 0; power < powers_[index]; ++power) candidate.unit *= dimension;
    }
    for (std::size_t index = 0; index < observations_.size(); ++index) {
      if (!fits(candidate.formula, values_[index], observations_[index])) return;
    }
    found_.push_back(std::move(candidate));
  }

  // The chance that one product near the size gives every observation: products of numbers crowd at even ones, so a
  // size counts as hit within its largest power of two, up to what an allocator rounds to.
  double luck_per_formula() const {
    double luck = 1;
    std::vector<std::vector<Dimension>> shapes;
    for (const AskedSizes& one : observations_) {
      if (std::find(shapes.begin(), shapes.end(), one.shape) != shapes.end()) continue;
      shapes.push_back(one.shape);
      double hit = 0;
      for (const std::uint64_t size : one.sizes) {
        const double width = static_cast<double>(std::max(width_of(rounding_), 2 * one.tolerance));
        if (size > 0) hit += width / (static_cast<double>(size) * 1.5);
      }
      luck *= std::min(hit, 1.0);
    }
    return luck;
  }

  const std::vector<Dimension>& fixed_;
  std::span<const AskedSizes> observations_;
  std::vector<std::vector<Dimension>> values_;  // of each observation, with the fixed ones
  std::vector<std::string> names_;
  std::vector<bool> varies_;
  std::vector<unsigned> powers_;
  std::uint64_t limit_ = 0;
  SizeRounding rounding_ = SizeRounding::kNone;
  std::array<std::uint64_t, kMostFactors + 1> near_misses_{};
  std::vector<Candidate> found_;
};

bool usable(std::span<const AskedSizes> observations) {
  return !observations.empty() && std::none_of(observations.begin(), observations.end(),
                                               [](const AskedSizes& one) { return one.sizes.empty(); });
}

}  // namespace

SizeExplanation explain_sizes(const std::vector<Dimension>& fixed, std::span<const AskedSizes> observations,
                              std::span<const SizeRounding> roundings) {
  if (!usable(observations)) return {};
  Search search(fixed, observations);
  for (const SizeRounding rounding : roundings) {
    search.run(rounding);
    SizeExplanation explanation = search.explanation();
    if (!explanation.classes.empty()) return explanation;
  }
  return {{}, 0, observations.size(), {}};
}

}  // namespace plumbline::checks
