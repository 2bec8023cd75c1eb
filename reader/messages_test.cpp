#include "reader/messages.hpp"

#include <gtest/gtest.h>

#include "recorder/messages.hpp"

namespace plumbline::reader {
namespace {

using recorder::MessageBuffer;
using recorder::MessageBuilder;

void add_exit(MessageBuilder& builder, MessageBuffer& to, std::int32_t status) {
  builder.finish(trace::CreateExit(builder.fbb(), 1, status), to);
}

// A message whose union member no reader of today knows.
void add_of_the_future(MessageBuffer& to) {
  flatbuffers::FlatBufferBuilder builder;
  const auto body = trace::CreateExit(builder, 1, 1);
  trace::MessageBuilder message(builder);
  message.add_body_type(static_cast<trace::Body>(200));
  message.add_body(body.Union());
  trace::FinishSizePrefixedMessageBuffer(builder, message.Finish());
  to.insert(to.end(), builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

std::vector<std::int32_t> statuses(const MessageBuffer& buffer, MessageCounts& counts) {
  std::vector<std::int32_t> found;
  MessageWalk walk(buffer, counts);
  while (const trace::Message* message = walk.next()) found.push_back(message->body_as_Exit()->status());
  return found;
}

TEST(MessagesTest, GivesOneAfterTheOther) {
  MessageBuilder builder;
  MessageBuffer buffer;
  for (int i = 0; i < 3; ++i) add_exit(builder, buffer, i);
  MessageCounts counts;
  EXPECT_EQ(statuses(buffer, counts), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(counts.good, 3u);
  EXPECT_EQ(counts.malformed + counts.unknown + counts.stray_bytes, 0u);
}

TEST(MessagesTest, NumbersThem) {
  MessageBuilder builder;
  MessageBuffer buffer;
  add_exit(builder, buffer, 0);
  add_exit(builder, buffer, 1);
  MessageCounts counts;
  MessageWalk walk(buffer, counts);
  walk.next();
  EXPECT_EQ(walk.index(), 0u);
  walk.next();
  EXPECT_EQ(walk.index(), 1u);
  EXPECT_EQ(walk.bytes(), buffer.size() / 2);
}

TEST(MessagesTest, StepsOverAMalformedOne) {
  MessageBuilder builder;
  MessageBuffer buffer;
  for (int i = 0; i < 3; ++i) add_exit(builder, buffer, i);
  const std::size_t one = buffer.size() / 3;
  buffer[one + 4] = 0xf0;  // its root's offset
  MessageCounts counts;
  EXPECT_EQ(statuses(buffer, counts), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(counts.malformed, 1u);
}

TEST(MessagesTest, StepsOverOneOfTheFuture) {
  MessageBuilder builder;
  MessageBuffer buffer;
  add_exit(builder, buffer, 0);
  add_of_the_future(buffer);
  add_exit(builder, buffer, 2);
  MessageCounts counts;
  EXPECT_EQ(statuses(buffer, counts), (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(counts.unknown, 1u);
}

TEST(MessagesTest, ALengthBeyondTheEndEndsTheWalk) {
  MessageBuilder builder;
  MessageBuffer buffer;
  add_exit(builder, buffer, 0);
  const std::size_t one = buffer.size();
  add_exit(builder, buffer, 1);
  buffer[one + 3] = 0x7f;
  MessageCounts counts;
  EXPECT_EQ(statuses(buffer, counts), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(counts.stray_bytes, one);
}

TEST(MessagesTest, AForeignIdentifierIsMalformed) {
  MessageBuilder builder;
  MessageBuffer buffer;
  add_exit(builder, buffer, 0);
  buffer[8] = 'X';
  MessageCounts counts;
  EXPECT_TRUE(statuses(buffer, counts).empty());
  EXPECT_EQ(counts.malformed, 1u);
}

TEST(MessagesTest, TinyBuffers) {
  for (std::size_t size = 0; size < 16; ++size) {
    MessageBuffer buffer(size, 0);
    if (size > 4) buffer[0] = static_cast<std::uint8_t>(size - 4);
    MessageCounts counts;
    EXPECT_TRUE(statuses(buffer, counts).empty());
  }
}

}  // namespace
}  // namespace plumbline::reader
