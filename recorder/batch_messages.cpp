// The second half of Batches: rows of one ring to messages. The order of columns is that of the rows in batches.cpp.
#include "recorder/batches.hpp"

namespace plumbline::recorder {
namespace {

template <std::size_t kColumns>
std::array<ColumnOffset, kColumns> columns_of(MessageBuilder& builder, const std::array<Values, kColumns>& columns) {
  std::array<ColumnOffset, kColumns> offsets;
  for (std::size_t i = 0; i < kColumns; ++i) offsets[i] = builder.column(columns[i]);
  return offsets;
}

}  // namespace

void Batches::write_allocations() {
  auto& fbb = builder_.fbb();
  const auto c = columns_of(builder_, allocations_.columns);
  const auto kinds = fbb.CreateVector(allocations_.kinds);
  builder_.finish(trace::CreateAllocations(fbb, ring_, allocations_.count, kinds, c[0], c[1], c[2], c[3]), messages_);
  allocations_.clear();
}

void Batches::write_collectives() {
  const auto c = columns_of(builder_, collectives_.columns);
  builder_.finish(
      trace::CreateCollectives(builder_.fbb(), ring_, collectives_.count, c[0], c[1], c[2], c[3], c[4], c[5], c[6],
                               c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14], c[15], c[16]),
      messages_);
  collectives_.clear();
}

void Batches::write_marks() {
  auto& fbb = builder_.fbb();
  const auto c = columns_of(builder_, marks_.columns);
  const auto kinds = fbb.CreateVector(marks_.kinds);
  builder_.finish(trace::CreateCollectiveMarks(fbb, ring_, marks_.count, kinds, c[0], c[1], c[2], c[3]), messages_);
  marks_.clear();
}

void Batches::write_ranges() {
  auto& fbb = builder_.fbb();
  const auto c = columns_of(builder_, ranges_.columns);
  const auto kinds = fbb.CreateVector(ranges_.kinds);
  builder_.finish(trace::CreateRanges(fbb, ring_, ranges_.count, kinds, c[0], c[1], c[2], c[3], c[4]), messages_);
  ranges_.clear();
}

void Batches::write_steps() {
  auto& fbb = builder_.fbb();
  const auto c = columns_of(builder_, steps_.columns);
  const auto kinds = fbb.CreateVector(steps_.kinds);
  builder_.finish(trace::CreateSteps(fbb, ring_, steps_.count, kinds, c[0], c[1], c[2], c[3], c[4], c[5], c[6]),
                  messages_);
  steps_.clear();
}

void Batches::write_step_groups() {
  const auto c = columns_of(builder_, step_groups_.columns);
  builder_.finish(trace::CreateStepGroups(builder_.fbb(), ring_, step_groups_.count, c[0], c[1], c[2], c[3], c[4], c[5],
                                          c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13], c[14]),
                  messages_);
  step_groups_.clear();
}

void Batches::write_samples() {
  const auto c = columns_of(builder_, samples_.columns);
  builder_.finish(trace::CreateSamples(builder_.fbb(), ring_, samples_.count, c[0], c[1], c[2]), messages_);
  samples_.clear();
}

void Batches::write_comms() {
  const auto c = columns_of(builder_, comms_.columns);
  builder_.finish(
      trace::CreateComms(builder_.fbb(), ring_, comms_.count, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]),
      messages_);
  comms_.clear();
}

void Batches::write_device_works() {
  const auto c = columns_of(builder_, device_works_.columns);
  builder_.finish(trace::CreateDeviceWorks(builder_.fbb(), ring_, device_works_.count, c[0], c[1], c[2], c[3], c[4],
                                           c[5], c[6], c[7]),
                  messages_);
  device_works_.clear();
}

}  // namespace plumbline::recorder
