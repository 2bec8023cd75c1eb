// Small numbers as elements of any NCCL data type: values chosen so that every type holds them exactly.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plumbline::nccl_job {

// Bits of `value` as an element; integers wrap around, as NCCL's do.
struct Element {
  std::uint64_t bits = 0;
  std::size_t size = 0;
};

template <class T>
Element element_of(T value) {
  Element element;
  std::memcpy(&element.bits, &value, sizeof value);
  element.size = sizeof value;
  return element;
}

inline Element make_element(ncclDataType_t datatype, double value) {
  const auto whole = static_cast<std::int64_t>(value);
  const auto small = static_cast<float>(value);
  switch (datatype) {
    case ncclInt8:
      return element_of(static_cast<std::int8_t>(whole));
    case ncclUint8:
      return element_of(static_cast<std::uint8_t>(whole));
    case ncclInt32:
      return element_of(static_cast<std::int32_t>(whole));
    case ncclUint32:
      return element_of(static_cast<std::uint32_t>(whole));
    case ncclInt64:
      return element_of(whole);
    case ncclUint64:
      return element_of(static_cast<std::uint64_t>(whole));
    case ncclFloat16:
      return element_of(static_cast<__half>(small));
    case ncclFloat32:
      return element_of(small);
    case ncclFloat64:
      return element_of(value);
    case ncclBfloat16:
      return element_of(static_cast<__nv_bfloat16>(small));
    case ncclFloat8e4m3:
      return element_of(static_cast<__nv_fp8_e4m3>(small));
    default:
      return element_of(static_cast<__nv_fp8_e5m2>(small));
  }
}

// A buffer of elements that are read and written as numbers.
class Elements {
 public:
  Elements(void* base, ncclDataType_t datatype) : base_(static_cast<std::byte*>(base)), datatype_(datatype) {}

  void set(std::size_t at, double value) {
    const Element element = make_element(datatype_, value);
    std::memcpy(base_ + at * element.size, &element.bits, element.size);
  }

  bool equals(std::size_t at, double value) const {
    const Element element = make_element(datatype_, value);
    return std::memcmp(base_ + at * element.size, &element.bits, element.size) == 0;
  }

 private:
  std::byte* base_;
  ncclDataType_t datatype_;
};

}  // namespace plumbline::nccl_job
