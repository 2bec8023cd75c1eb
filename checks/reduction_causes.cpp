#include "checks/reduction_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "checks/element_values.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;
using recorder::ReduceOp;

constexpr std::pair<ReduceOp, const char*> kOperations[] = {
    {ReduceOp::kSum, "the sum"},          {ReduceOp::kAvg, "the mean"},
    {ReduceOp::kMax, "the maximum"},      {ReduceOp::kMin, "the minimum"},
    {ReduceOp::kProd, "the product"},     {ReduceOp::kBor, "the bitwise or"},
    {ReduceOp::kBand, "the bitwise and"}, {ReduceOp::kBxor, "the bitwise exclusive or"},
};

bool fits(const std::vector<Form>& forms, const Elements& got) {
  bool any = false;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!forms[i].judged || excess(forms[i], got, i) > 1) return false;
    any = any || (got.is_whole ? forms[i].whole != 0 : forms[i].value != 0);
  }
  return any;  // nothing but zeros fits too much
}

bool equal(const Elements& a, const Elements& b) {
  return a.is_whole == b.is_whole && a.real == b.real && a.whole == b.whole;
}

Contributions without(const Contributions& from, std::size_t member) {
  Contributions rest{from.places, {}};
  for (std::size_t i = 0; i < from.given.size(); ++i) {
    if (i != member) rest.given.push_back(from.given[i]);
  }
  return rest;
}

Contributions with_twice(const Contributions& from, std::size_t member) {
  Contributions more = from;
  more.given.push_back(from.given[member]);
  return more;
}

// Each step of the reduction, or what it left, was rounded to a narrower type than the tensor's.
std::string narrower(const CapturedCall& call, Dtype dtype, const Contributions& from, const Elements& got) {
  if (call.reduce != ReduceOp::kSum && call.reduce != ReduceOp::kAvg) return {};
  for (const auto& [narrow, name] : {std::pair{Dtype::kBfloat16, "bfloat16"}, std::pair{Dtype::kFloat16, "float16"}}) {
    if (got.is_whole || unit_roundoff(dtype) >= unit_roundoff(narrow)) continue;
    const bool rounded = std::all_of(got.real.begin(), got.real.end(),
                                     [narrow = narrow](double x) { return rounded_to(narrow, x) == x; });
    std::vector<Form> forms = closed_forms(call.reduce, dtype, from);
    for (std::size_t i = 0; i < forms.size(); ++i) {
      double magnitude = 0;
      for (const Elements& given : from.given) magnitude += std::fabs(given.real[i]);
      // One rounding of each number before it is added, one after each addition.
      const auto roundings = static_cast<double>(2 * from.given.size());
      forms[i].bound += roundings * (unit_roundoff(narrow) * magnitude + underflow_error(narrow));
    }
    if (rounded && fits(forms, got)) return fmt::format("was added up in {}", name);
  }
  return {};
}

// The same times a whole number: reduced more than once, or divided by the number of ranks.
std::string multiple(const CapturedCall& call, Dtype dtype, const Contributions& from, const Elements& got) {
  if (got.is_whole || call.reduce != ReduceOp::kSum) return {};
  const auto n = static_cast<double>(from.given.size());
  for (const double factor : {n, 1 / n}) {
    std::vector<Form> forms = closed_forms(call.reduce, dtype, from);
    for (Form& form : forms) form = {form.judged, form.value * factor, 2 * form.bound * factor, 0};
    if (n > 1 && fits(forms, got)) {
      return factor > 1 ? fmt::format("is {} times the sum: it was reduced twice", n)
                        : "is the sum over the ranks' number";
    }
  }
  return {};
}

// Of a sum of scaled parts the parts themselves.
std::optional<Contributions> unscaled(const CallBlocks& blocks, std::size_t block) {
  if (blocks.factors.empty()) return std::nullopt;
  CallBlocks plain = blocks;
  plain.factors.clear();
  return contributions(plain, block);
}

std::string other_block(const CapturedCall& call, const CallBlocks& blocks, const Elements& got, std::size_t member) {
  for (std::size_t block = 0; scatters(call.op) && block < blocks.in.size(); ++block) {
    if (block == member) continue;
    const auto from = contributions(blocks, block);
    if (from && from->places.size() == got.size() && fits(closed_forms(call.reduce, blocks.dtype, *from), got)) {
      return fmt::format("is the part of rank {}", call.members[block].rank);
    }
  }
  return {};
}

}  // namespace

std::vector<Form> closed_forms(ReduceOp reduce, Dtype dtype, const Contributions& from) {
  std::vector<Form> forms;
  std::vector<double> real(from.given.size());
  std::vector<std::int64_t> whole(from.given.size());
  for (std::size_t i = 0; i < from.places.size(); ++i) {
    if (from.given.front().is_whole) {
      for (std::size_t k = 0; k < whole.size(); ++k) whole[k] = from.given[k].whole[i];
      forms.push_back(closed_form(reduce, dtype, whole));
    } else if (from.given.front().real.size() == from.places.size()) {
      for (std::size_t k = 0; k < real.size(); ++k) real[k] = from.given[k].real[i];
      forms.push_back(closed_form(reduce, dtype, real));
    } else {
      forms.emplace_back();
    }
  }
  return forms;
}

std::string reduction_cause(const CapturedCall& call, const CallBlocks& blocks, const Contributions& from,
                            const Elements& got, std::size_t member) {
  if (std::string other = other_block(call, blocks, got, member); !other.empty()) return other;
  if (const auto plain = unscaled(blocks, scatters(call.op) ? member : 0);
      plain && fits(closed_forms(ReduceOp::kSum, blocks.dtype, *plain), got))
    return "is the sum of what the ranks gave, without their factors";
  for (const auto& [reduce, name] : kOperations) {
    if (reduce != call.reduce && fits(closed_forms(reduce, blocks.dtype, from), got))
      return fmt::format("is {} of what the ranks gave", name);
  }
  for (std::size_t i = 0; i < from.given.size(); ++i) {
    if (!equal(from.given[i], got)) continue;
    return i == member ? "is what the rank gave itself, not reduced"
                       : fmt::format("is what rank {} gave, not reduced", call.members[i].rank);
  }
  for (std::size_t i = 0; from.given.size() > 2 && i < from.given.size(); ++i) {
    if (fits(closed_forms(call.reduce, blocks.dtype, without(from, i)), got))
      return fmt::format("lacks what rank {} gave", call.members[i].rank);
  }
  for (std::size_t i = 0; i < from.given.size(); ++i) {
    if (fits(closed_forms(call.reduce, blocks.dtype, with_twice(from, i)), got))
      return fmt::format("has what rank {} gave twice in it", call.members[i].rank);
  }
  if (std::string other = multiple(call, blocks.dtype, from, got); !other.empty()) return other;
  if (std::string other = narrower(call, blocks.dtype, from, got); !other.empty()) return other;
  if (blocks.out[member].front().untouched) return "holds what was there before the call: it was not written";
  return {};
}

}  // namespace plumbline::checks
