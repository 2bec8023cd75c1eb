#include "checks/reduction_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "checks/element_values.hpp"
#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

using recorder::Dtype;
using recorder::ReduceOp;

bool is_signed(Dtype dtype) {
  return dtype == Dtype::kInt8 || dtype == Dtype::kInt16 || dtype == Dtype::kInt32 || dtype == Dtype::kInt64;
}

bool is_whole(Dtype dtype) {
  return is_signed(dtype) || dtype == Dtype::kBool || dtype == Dtype::kUint8 || dtype == Dtype::kUint16 ||
         dtype == Dtype::kUint32 || dtype == Dtype::kUint64;
}

// The low bits that the dtype has, with its sign.
std::int64_t wrapped(Dtype dtype, std::uint64_t bits) {
  const int unused = 64 - static_cast<int>(recorder::size_of(dtype)) * 8;
  const std::uint64_t high = bits << unused;
  return is_signed(dtype) ? static_cast<std::int64_t>(high) >> unused : static_cast<std::int64_t>(high >> unused);
}

double largest_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat16:
      return 65504;
    case Dtype::kFloat8E4m3:
      return 448;
    case Dtype::kFloat8E5m2:
      return 57344;
    case Dtype::kFloat64:
      return 0x1.fffffffffffffp1023;
    case Dtype::kBfloat16:
      return 0x1.fep127;
    default:
      return 0x1.fffffep127;
  }
}

constexpr double kOwnUnit = 0x1p-53;  // of this computation

Form exact(double value) { return {true, value, 0}; }

// `roundings` of numbers up to `magnitude`, and as many losses among the smallest numbers.
Form rounded(Dtype dtype, double value, double magnitude, double roundings, double terms) {
  const double unit = unit_roundoff(dtype);
  const double growth = 1 + roundings * unit;  // partial results carry the errors before them
  return {true, value,
          roundings * unit * magnitude * growth + terms * kOwnUnit * magnitude + roundings * underflow_error(dtype)};
}

struct Added {
  double sum = 0;
  double magnitude = 0;
};

Added add_up(std::span<const double> given) {
  Added added;
  for (const double x : given) {
    added.sum += x;
    added.magnitude += std::fabs(x);
  }
  return added;
}

bool may_overflow(Dtype dtype, double magnitude, double roundings) {
  return magnitude * (1 + roundings * unit_roundoff(dtype)) > largest_of(dtype);
}

Form sum_form(Dtype dtype, std::span<const double> given, bool average) {
  const auto [sum, magnitude] = add_up(given);
  const auto n = static_cast<double>(given.size());
  const double scale = average ? n : 1;
  if (!std::isfinite(magnitude)) return exact(sum / scale);  // infinities and NaN come through in any order
  if (may_overflow(dtype, magnitude, n)) return {};
  if (given.size() == 1) return exact(sum);
  // The mean: one more for its reciprocal, one for the product; each number may be multiplied before.
  return rounded(dtype, sum / scale, magnitude / scale, average ? n + 2 : n - 1, n);
}

// Of parts that were scaled: one more for the factor, which is given in the tensor's type, one for the product.
Form scaled_sum_form(Dtype dtype, std::span<const double> given) {
  const auto [sum, magnitude] = add_up(given);
  const auto n = static_cast<double>(given.size());
  if (!std::isfinite(magnitude)) return {};  // which parts were infinite before their factor is not known
  if (may_overflow(dtype, magnitude, n + 2)) return {};
  return rounded(dtype, sum, magnitude, n + 1, n);
}

Form product_form(Dtype dtype, std::span<const double> given) {
  double product = 1;
  double most = 1;
  double least = 1;
  for (const double x : given) {
    product *= x;
    most *= std::max(std::fabs(x), 1.0);
    if (x != 0) least *= std::min(std::fabs(x), 1.0);
  }
  const bool plain = std::all_of(given.begin(), given.end(), [](double x) { return std::isfinite(x); });
  // Some order of multiplication leaves the range of the type.
  if (!plain || most > largest_of(dtype) / 2 || least < 2 * underflow_error(dtype) / unit_roundoff(dtype)) return {};
  const auto n = static_cast<double>(given.size());
  return given.size() == 1 ? exact(product) : rounded(dtype, product, std::fabs(product), n - 1, n);
}

template <class T, class Fold>
T folded(std::span<const T> given, const Fold& fold) {
  T result = given.front();
  for (const T x : given.subspan(1)) result = fold(result, x);
  return result;
}

}  // namespace

std::string Elements::text(std::size_t i) const {
  return is_whole ? fmt::format("{}", whole[i]) : fmt::format("{:.9g}", real[i]);
}

bool read_elements(Dtype dtype, std::span<const std::uint8_t> bytes, Elements& elements) {
  elements.is_whole = is_whole(dtype);
  if (!elements.is_whole) return decode(dtype, bytes, elements.real);
  const std::size_t size = recorder::size_of(dtype);
  elements.whole.resize(bytes.size() / size);
  for (std::size_t i = 0; i < elements.whole.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    elements.whole[i] = wrapped(dtype, bits);
  }
  return true;
}

Form closed_form(ReduceOp reduce, Dtype dtype, std::span<const double> given) {
  if (given.empty() || !is_floating(dtype)) return {};
  const bool ordered = std::none_of(given.begin(), given.end(), [](double x) { return std::isnan(x); });
  switch (reduce) {
    case ReduceOp::kSum:
      return sum_form(dtype, given, false);
    case ReduceOp::kAvg:
      return sum_form(dtype, given, true);
    case ReduceOp::kPremulSum:
      return scaled_sum_form(dtype, given);
    case ReduceOp::kProd:
      return product_form(dtype, given);
    case ReduceOp::kMin:
      return ordered ? exact(*std::min_element(given.begin(), given.end())) : Form{};
    case ReduceOp::kMax:
      return ordered ? exact(*std::max_element(given.begin(), given.end())) : Form{};
    default:
      return {};
  }
}

Form closed_form(ReduceOp reduce, Dtype dtype, std::span<const std::int64_t> given) {
  if (given.empty() || !is_whole(dtype)) return {};
  // A sum of truths is a truth to some backends and a number to others.
  const bool counts = dtype != Dtype::kBool;
  const auto less = [dtype](std::int64_t a, std::int64_t b) {
    return is_signed(dtype) ? a < b : static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
  };
  const auto with = [&](const auto& fold) {
    return Form{true, 0, 0, wrapped(dtype, static_cast<std::uint64_t>(folded<std::int64_t>(given, fold)))};
  };
  // As unsigned numbers: they wrap around.
  const auto wrap = [](const auto& operation) {
    return [operation](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(operation(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    };
  };
  switch (reduce) {
    case ReduceOp::kSum:
      return counts ? with(wrap([](std::uint64_t a, std::uint64_t b) { return a + b; })) : Form{};
    case ReduceOp::kProd:
      return counts ? with(wrap([](std::uint64_t a, std::uint64_t b) { return a * b; })) : Form{};
    case ReduceOp::kMin:
      return with([&](std::int64_t a, std::int64_t b) { return less(b, a) ? b : a; });
    case ReduceOp::kMax:
      return with([&](std::int64_t a, std::int64_t b) { return less(a, b) ? b : a; });
    case ReduceOp::kBand:
      return with([](std::int64_t a, std::int64_t b) { return a & b; });
    case ReduceOp::kBor:
      return with([](std::int64_t a, std::int64_t b) { return a | b; });
    case ReduceOp::kBxor:
      return with([](std::int64_t a, std::int64_t b) { return a ^ b; });
    default:
      return {};
  }
}

double excess(const Form& form, const Elements& got, std::size_t i) {
  if (!form.judged) return 0;
  if (got.is_whole) return got.whole[i] == form.whole ? 0 : HUGE_VAL;
  const double x = got.real[i];
  if (x == form.value || (std::isnan(x) && std::isnan(form.value))) return 0;
  const double distance = std::fabs(x - form.value);
  return std::isfinite(distance) && form.bound > 0 ? distance / form.bound : HUGE_VAL;
}

std::string text_of(const Form& form, bool is_whole) {
  if (is_whole) return fmt::format("{}", form.whole);
  return form.bound > 0 ? fmt::format("{:.9g} within {:.2g}", form.value, form.bound)
                        : fmt::format("{:.9g}", form.value);
}

}  // namespace plumbline::checks
