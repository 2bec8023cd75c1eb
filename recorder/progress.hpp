// The Progress message at the end of each event frame: how far the trace has each ring, and what was dropped so far.
#pragma once

#include <span>
#include <vector>

#include "recorder/messages.hpp"

namespace plumbline::recorder {

struct RingProgress {
  std::uint32_t ring = 0;
  std::uint64_t generation = 0;
  std::uint64_t head = 0;
};

inline void append_progress_message(MessageBuilder& builder, std::uint64_t time_ns, std::span<const RingProgress> rings,
                                    std::span<const std::uint64_t> dropped, MessageBuffer& out) {
  auto& fbb = builder.fbb();
  std::vector<flatbuffers::Offset<trace::RingPosition>> positions;
  positions.reserve(rings.size());
  for (const RingProgress& ring : rings) {
    positions.push_back(trace::CreateRingPosition(fbb, ring.ring, ring.generation, ring.head));
  }
  const auto rows = fbb.CreateVector(positions);
  const auto counts = fbb.CreateVector(dropped.data(), dropped.size());
  builder.finish(trace::CreateProgress(fbb, time_ns, rows, counts), out);
}

}  // namespace plumbline::recorder
