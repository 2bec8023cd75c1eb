// Events of a trace that pass the filters, in time order as near as the trace's frames are.
#pragma once

#include <functional>

#include "reader/merge.hpp"
#include "tools/run_reader/context.hpp"

namespace plumbline::tools {

class EventSource {
 public:
  explicit EventSource(const Context& context) : context_(context) {}

  using Visit = std::function<bool(const reader::FrameView& frame, const reader::Row& row, std::int64_t step)>;
  // `visit` returns false to stop. The step is -1 in a trace without optimizer steps.
  void each(std::size_t trace, const Visit& visit) const;
  // What to read of a trace so that no event that passes is left out.
  reader::Query query(std::size_t trace) const;
  bool takes(const reader::FrameView& frame, const reader::Row& row, std::int64_t step) const;

 private:
  const Context& context_;
};

// The logical step at a time, -1 where the trace has none.
std::int64_t step_at(const reader::Trace& trace, std::uint64_t time_ns);

}  // namespace plumbline::tools
