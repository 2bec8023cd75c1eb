// Which elements a sample takes: the same ones on every rank and in every run, for a tensor of the same size.
//
// All of a tensor that has no more than `count` elements. Else the tensor is cut into `count` stretches of nearly equal
// length, and of the i-th stretch the element is taken that a hash of i points at: so samples are spread evenly, never
// fall into step with rows, and stand in rising order.
#pragma once

#include <cstdint>

namespace plumbline::recorder {

// SplitMix64's finalizer (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr std::uint64_t sample_size(std::uint64_t elements, std::uint64_t count) noexcept {
  return elements < count ? elements : count;
}

// Place of the i-th of `count` samples, i < sample_size(elements, count).
constexpr std::uint64_t sample_place(std::uint64_t i, std::uint64_t elements, std::uint64_t count) noexcept {
  if (elements <= count) return i;
  const std::uint64_t length = elements / count;
  const std::uint64_t longer = elements % count;  // that many stretches have one element more
  const std::uint64_t begin = i * length + (i < longer ? i : longer);
  return begin + mix64(i) % (length + (i < longer ? 1 : 0));
}

}  // namespace plumbline::recorder
