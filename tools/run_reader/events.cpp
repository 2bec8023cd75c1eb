// `events`: single events of all ranks in the order of time.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "reader/names.hpp"
#include "tools/run_reader/commands.hpp"
#include "tools/run_reader/event_json.hpp"
#include "tools/run_reader/event_source.hpp"
#include "tools/run_reader/event_text.hpp"
#include "tools/run_reader/exit_code.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

// The events of one trace that pass the filters, one after the other.
class EventStream {
 public:
  EventStream(const Context& context, const EventSource& source, std::size_t index)
      : context_(context),
        source_(source),
        index_(index),
        query_(source.query(index)),
        cursor_(trace(), query_),
        frame_(query_.from_ns <= query_.to_ns ? cursor_.next() : nullptr) {
    if (frame_ != nullptr) merger_.start(*frame_);
  }

  // False at the end.
  bool next() {
    while (frame_ != nullptr) {
      while (merger_.next(row_)) {
        if (!query_.contains(row_.time_ns)) continue;
        step_ = step_at(trace(), row_.time_ns);
        if (!source_.takes(*frame_, row_, step_)) continue;
        time_ns_ = context_.subject.clock().since_start(index_, row_.time_ns);
        return true;
      }
      frame_ = cursor_.next();
      if (frame_ != nullptr) merger_.start(*frame_);
    }
    return false;
  }

  const reader::Trace& trace() const { return context_.run.traces()[index_]; }
  const reader::FrameView& frame() const { return *frame_; }
  const reader::Row& row() const { return row_; }
  std::int64_t step() const { return step_; }
  std::int64_t time_ns() const { return time_ns_; }

 private:
  const Context& context_;
  const EventSource& source_;
  std::size_t index_;
  reader::Query query_;
  reader::FrameCursor cursor_;
  const reader::FrameView* frame_;
  reader::RowMerger merger_;
  reader::Row row_;
  std::int64_t step_ = -1;
  std::int64_t time_ns_ = 0;
};

void print_text(const Context& context, const EventStream& stream) {
  const std::string step = stream.step() < 0 ? "-" : std::to_string(stream.step());
  const std::string line =
      fmt::format("{:>11.6f}  {:>4}  {:>4}  {:<17}  {}", reader::RunClock::seconds(stream.time_ns()),
                  stream.trace().rank(), step, reader::name_of(kind_of(stream.frame(), stream.row())),
                  printable(event_text(stream.trace(), stream.frame(), stream.row())));
  // A terminal gets one line an event; a file or a pipe, in which one searches, gets it whole.
  context.out << (context.options.colour ? truncated(line, kColumns) : line) << '\n';
}

void print_json(const Context& context, const EventStream& stream, JsonLine& line) {
  line.number("rank", stream.trace().rank()).number("attempt", stream.trace().attempt());
  line.real("t", reader::RunClock::seconds(stream.time_ns())).number("step", stream.step());
  line.number("ring", stream.row().ring);
  add_event(line, stream.trace(), stream.frame(), stream.row());
  context.out << line.finish();
}

}  // namespace

int run_events(const Context& context) {
  const Filter& filter = context.options.filter;
  const EventSource source(context);
  const auto later = [](const std::unique_ptr<EventStream>& a, const std::unique_ptr<EventStream>& b) {
    return a->time_ns() > b->time_ns();
  };
  std::vector<std::unique_ptr<EventStream>> heap;
  for (std::size_t index = 0; index < context.run.traces().size(); ++index) {
    if (!filter.takes_rank(context.run.traces()[index].rank())) continue;
    auto stream = std::make_unique<EventStream>(context, source, index);
    if (stream->next()) heap.push_back(std::move(stream));
  }
  std::make_heap(heap.begin(), heap.end(), later);

  JsonLine line;
  if (context.options.json) {
    context.out << line.text("schema", "plumbline.events.1").text("run", context.run.path()).finish();
  } else if (!heap.empty()) {
    context.out << fmt::format("{:>11}  {:>4}  {:>4}  {:<17}  event\n", "seconds", "rank", "step", "kind");
  }
  std::uint64_t shown = 0;
  while (!heap.empty() && (filter.limit == 0 || shown < filter.limit) && context.out) {
    std::pop_heap(heap.begin(), heap.end(), later);
    EventStream& stream = *heap.back();
    if (context.options.json) {
      print_json(context, stream, line);
    } else {
      print_text(context, stream);
    }
    ++shown;
    if (stream.next()) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      heap.pop_back();
    }
  }
  if (shown == 0 && !context.options.json) context.out << "no event passes these filters\n";
  if (!heap.empty() && !context.options.json) {
    context.out << fmt::format("the first {}; --limit 0 shows all that pass\n", plural(shown, "event"));
  }
  return kExitFine;
}

}  // namespace plumbline::tools
