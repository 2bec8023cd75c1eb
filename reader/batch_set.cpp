#include "reader/batch_set.hpp"

namespace plumbline::reader {

TimeSpan span_of(Column times) {
  TimeSpan span;
  for (const std::uint64_t time : times) {
    span.first_ns = time < span.first_ns ? time : span.first_ns;
    span.last_ns = time > span.last_ns ? time : span.last_ns;
  }
  return span;
}

}  // namespace plumbline::reader
