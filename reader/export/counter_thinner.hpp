// Thins out a counter that changes far more often than a viewer can draw: of each short interval it keeps the highest
// value and the last one, so that no peak is lost.
//
//   CounterThinner thinner(1'000'000, [&](std::uint64_t time_ns, std::int64_t value) { … });
//   thinner.add(time_ns, value);
//   thinner.finish();
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace plumbline::reader {

class CounterThinner {
 public:
  using Emit = std::function<void(std::uint64_t time_ns, std::int64_t value)>;

  CounterThinner(std::uint64_t interval_ns, Emit emit) : interval_ns_(interval_ns), emit_(std::move(emit)) {}

  // A time that goes back, as between threads of one process it may by a little, counts as the latest one.
  void add(std::uint64_t time_ns, std::int64_t value);
  void finish();

 private:
  void close();

  std::uint64_t interval_ns_;
  Emit emit_;
  bool open_ = false;
  std::uint64_t first_ns_ = 0;
  std::uint64_t peak_ns_ = 0;
  std::int64_t peak_ = 0;
  std::uint64_t last_ns_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace plumbline::reader
