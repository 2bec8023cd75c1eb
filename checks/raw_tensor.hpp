// Captured elements as they are in the file: held in memory, or read from the file as they are asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/captures.hpp"

namespace plumbline::checks {

// Not for several threads at once; copies of one that reads share its place in the file.
class RawTensor {
 public:
  RawTensor() = default;
  RawTensor(recorder::Dtype dtype, std::vector<std::uint8_t> bytes);
  RawTensor(recorder::Dtype dtype, std::uint64_t bytes, reader::CaptureCursor cursor);

  recorder::Dtype dtype() const { return dtype_; }
  bool there() const { return bytes_ > 0; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t count() const;
  bool readable() const { return readable_; }  // false once elements could not be read; they count as zeros

  // Sets `values` to `count` elements from `first` on.
  void decode(std::size_t first, std::size_t count, std::vector<double>& values) const;
  bool all_zero() const;  // also where there are none
  RawTensor slice(std::size_t first, std::size_t count) const;
  void hold();
  // Of a floating-point dtype, into memory that is held.
  void store(std::size_t place, double value);

  // Bit by bit.
  friend bool operator==(const RawTensor& a, const RawTensor& b);

 private:
  std::vector<std::uint8_t> read(std::size_t first, std::size_t count) const;

  recorder::Dtype dtype_ = recorder::Dtype::kUnknown;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint8_t> held_;
  std::shared_ptr<reader::CaptureCursor> cursor_;  // null: held
  mutable bool readable_ = true;
};

}  // namespace plumbline::checks
