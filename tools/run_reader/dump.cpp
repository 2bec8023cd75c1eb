// `dump`: everything in the traces as JSON lines, streamed frame by frame, nothing gathered.
//
// Each trace begins with its definitions (process, facts, groups, threads, hooks), then its events in the order of the
// file, then what is known of its end and of losses.
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/event_json.hpp"
#include "tools/run_reader/event_source.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/trace_json.hpp"

namespace plumbline::tools {

int run_dump(const Context& context) {
  const EventSource source(context);
  const Filter& filter = context.options.filter;
  const bool events_only = !filter.kinds.empty();
  JsonLine line;
  line.text("record", "dump").text("schema", "plumbline.dump.1").text("run", context.run.path());
  line.real("start_realtime_s", static_cast<double>(context.subject.clock().start_realtime_ns()) / 1e9);
  context.out << line.finish();
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    const reader::Trace& trace = context.run.traces()[index];
    if (!filter.takes_rank(trace.rank())) continue;
    if (!events_only) write_definitions(context.out, trace);
    source.each(index, [&](const reader::FrameView& frame, const reader::Row& row, std::int64_t step) {
      line.text("record", "event").number("rank", trace.rank()).number("attempt", trace.attempt());
      line.real("t", context.subject.seconds(index, row.time_ns)).number("time_ns", row.time_ns);
      line.number("step", step).number("ring", row.ring);
      add_event(line, trace, frame, row);
      context.out << line.finish();
      return static_cast<bool>(context.out);
    });
    if (!events_only) write_end(context.out, trace);
    if (!context.out) break;
  }
  return context.run.stats().data_lost() ? kExitInconclusive : kExitFine;
}

}  // namespace plumbline::tools
