#include "reader/export/counter_thinner.hpp"

#include <algorithm>

namespace plumbline::reader {

void CounterThinner::add(std::uint64_t time_ns, std::int64_t value) {
  time_ns = std::max(time_ns, last_ns_);
  if (open_ && time_ns - first_ns_ >= interval_ns_) close();
  if (!open_) {
    open_ = true;
    first_ns_ = peak_ns_ = time_ns;
    peak_ = value;
  } else if (value > peak_) {
    peak_ns_ = time_ns;
    peak_ = value;
  }
  last_ns_ = time_ns;
  last_ = value;
}

void CounterThinner::finish() {
  if (open_) close();
}

void CounterThinner::close() {
  emit_(peak_ns_, peak_);
  if (last_ns_ != peak_ns_ || last_ != peak_) emit_(last_ns_, last_);
  open_ = false;
}

}  // namespace plumbline::reader
