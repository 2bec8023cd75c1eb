// Building size-prefixed FlatBuffers messages one after the other into one buffer.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "recorder/column_encoder.hpp"

namespace plumbline::recorder {

using MessageBuffer = std::vector<std::uint8_t>;
using ColumnOffset = flatbuffers::Offset<trace::Column>;

class MessageBuilder {
 public:
  flatbuffers::FlatBufferBuilder& fbb() { return fbb_; }

  ColumnOffset column(std::span<const std::uint64_t> values) {
    const ColumnHeader header = encoder_.encode(values, scratch_);
    const auto data = scratch_.empty() ? 0 : fbb_.CreateVector(scratch_);
    return trace::CreateColumn(fbb_, header.base, header.encoding, data);
  }

  // Ends the message whose body was just built and appends it. Its length is a multiple of 8, so that every message of
  // a decompressed frame is aligned when the frame is.
  template <class Table>
  void finish(flatbuffers::Offset<Table> body, MessageBuffer& out) {
    const auto message = trace::CreateMessage(fbb_, trace::BodyTraits<Table>::enum_value, body.Union());
    fbb_.TrackMinAlign(8);
    trace::FinishSizePrefixedMessageBuffer(fbb_, message);
    out.insert(out.end(), fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
    fbb_.Clear();
  }

 private:
  flatbuffers::FlatBufferBuilder fbb_{1 << 16};
  ColumnEncoder encoder_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace plumbline::recorder
