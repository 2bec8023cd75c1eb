#include "tests/standin/reduce.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace plumbline::standin {
namespace {

// How an element is held while it is computed with.
template <class T>
using Working = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;

template <class T>
Working<T> load(const std::byte* values, std::size_t at) {
  T value;
  std::memcpy(&value, values + at * sizeof(T), sizeof(T));
  return static_cast<Working<T>>(value);
}

template <class T>
void store(std::byte* values, std::size_t at, Working<T> working) {
  const T value = static_cast<T>(working);
  std::memcpy(values + at * sizeof(T), &value, sizeof(T));
}

// Integers wrap around, without undefined behaviour on the way.
template <class W>
W add(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(std::uint64_t(a) + std::uint64_t(b));
  else
    return a + b;
}

template <class W>
W multiply(W a, W b) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(std::uint64_t(a) * std::uint64_t(b));
  else
    return a * b;
}

template <class W>
W combine(ncclRedOp_t op, W a, W b) {
  switch (op) {
    case ncclProd:
      return multiply(a, b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return add(a, b);
  }
}

template <class T>
void reduce_as(const std::vector<const std::byte*>& inputs, std::byte* result, std::size_t count,
               const Reduction& reduction) {
  for (std::size_t at = 0; at < count; ++at) {
    Working<T> sum = load<T>(inputs[0], at);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      sum = combine(reduction.op, sum, load<T>(inputs[rank], at));
    }
    if (reduction.op == ncclAvg) sum = static_cast<Working<T>>(sum / static_cast<Working<T>>(inputs.size()));
    store<T>(result, at, sum);
  }
}

template <class T>
void scale_as(std::byte* values, std::size_t count, const Reduction& reduction) {
  const Working<T> factor = load<T>(reinterpret_cast<const std::byte*>(&reduction.factor_bits), 0);
  for (std::size_t at = 0; at < count; ++at) store<T>(values, at, multiply(load<T>(values, at), factor));
}

// Calls `work` with a value of the C++ type behind the data type.
template <class Work>
void with_type(ncclDataType_t datatype, Work work) {
  switch (datatype) {
    case ncclInt8:
      return work(std::int8_t{});
    case ncclUint8:
      return work(std::uint8_t{});
    case ncclInt32:
      return work(std::int32_t{});
    case ncclUint32:
      return work(std::uint32_t{});
    case ncclInt64:
      return work(std::int64_t{});
    case ncclUint64:
      return work(std::uint64_t{});
    case ncclFloat16:
      return work(__half{});
    case ncclFloat32:
      return work(float{});
    case ncclFloat64:
      return work(double{});
    case ncclBfloat16:
      return work(__nv_bfloat16{});
    case ncclFloat8e4m3:
      return work(__nv_fp8_e4m3{});
    case ncclFloat8e5m2:
      return work(__nv_fp8_e5m2{});
    default:
      return;
  }
}

}  // namespace

std::size_t size_of(ncclDataType_t datatype) {
  std::size_t size = 0;
  with_type(datatype, [&](auto element) { size = sizeof element; });
  return size;
}

void scale(std::byte* values, std::size_t count, ncclDataType_t datatype, const Reduction& reduction) {
  with_type(datatype, [&](auto element) { scale_as<decltype(element)>(values, count, reduction); });
}

void reduce(const std::vector<const std::byte*>& inputs, std::byte* result, std::size_t count, ncclDataType_t datatype,
            const Reduction& reduction) {
  with_type(datatype, [&](auto element) { reduce_as<decltype(element)>(inputs, result, count, reduction); });
}

}  // namespace plumbline::standin
