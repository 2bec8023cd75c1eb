// The inner layer of a trace file: messages of events become batches of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/batch_set.hpp"
#include "reader/column_decoder.hpp"

namespace plumbline::trace {
struct Message;
}

namespace plumbline::reader {

// One frame's batches with the memory under them; used again for every frame.
class DecodedFrame {
 public:
  enum class Taken {
    kNotEvents,  // some other message
    kBatch,      // is in the view now
    kNotWanted,  // by the query
    kMalformed,  // columns that do not hold what the batch says
  };

  void clear();

  // With `times`, the times of batches that are not wanted are decoded too, for span().
  Taken add(const trace::Message& message, std::size_t message_bytes, const Query& query, bool times, Place place);

  // The batches that the query wanted, since clear().
  BatchSet& batches() { return batches_; }

  // Of all batches that add() was given since clear().
  Kinds kinds() const { return kinds_; }
  TimeSpan span() const { return span_; }
  std::uint64_t rows() const { return rows_; }

 private:
  struct Request {
    std::size_t message_bytes;
    const Query& query;
    bool times;
    Place place;
  };
  template <class Batch, class Table, class Fill>
  Taken add_batch(std::vector<Batch>& to, Kinds type, const Table& table, const Request& request, Fill&& fill);

  ColumnArena arena_;
  BatchSet batches_;
  Kinds kinds_ = 0;
  TimeSpan span_;
  std::uint64_t rows_ = 0;
};

}  // namespace plumbline::reader
