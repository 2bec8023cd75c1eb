#include "checks/call_sequence.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace plumbline::checks {
namespace {

using reader::Collective;
using reader::Op;

// One call a letter, from its own line; capitals carry more.
CallSequence calls(std::string_view letters) {
  CallSequence sequence;
  for (std::size_t number = 0; number < letters.size(); ++number) {
    Collective call;
    call.op = Op::kAllReduce;
    call.dtype = reader::Dtype::kFloat32;
    call.count_in = call.count_out = letters[number] < 'a' ? 2 : 1;
    call.site = static_cast<std::uint64_t>(letters[number]);
    call.seq = number;
    sequence.emplace(number, call);
  }
  return sequence;
}

TEST(DifferenceTest, IsToldByItsName) {
  const Collective sum = calls("a").at(0);
  EXPECT_EQ(difference_of(sum, sum), Difference::kNone);
  EXPECT_EQ(difference_of(sum, calls("A").at(0)), Difference::kSize);
  Collective gather = sum;
  gather.op = Op::kAllGather;
  EXPECT_EQ(difference_of(sum, gather), Difference::kOp);
  EXPECT_EQ(name_of(difference_of(sum, gather)), "operation");
}

// A send and its receive are the two sides of one message.
TEST(DifferenceTest, ASendAndItsReceiveAgree) {
  Collective send = calls("a").at(0);
  send.op = Op::kSend;
  Collective receive = send;
  receive.op = Op::kRecv;
  EXPECT_EQ(difference_of(send, receive), Difference::kNone);
  receive.dtype = reader::Dtype::kInt64;
  EXPECT_EQ(difference_of(send, receive), Difference::kDtype);
}

TEST(DifferenceTest, AnUnevenSideMakesSizesFree) {
  Collective even = calls("a").at(0);
  even.op = Op::kAllToAllBase;
  Collective uneven = even;
  uneven.count_in = 7;
  uneven.splits_hash = 1;
  EXPECT_EQ(difference_of(even, uneven), Difference::kNone);
}

TEST(SlipTest, TwoCallsInTheOtherOrder) {
  EXPECT_EQ(slip_of(calls("abcdef"), calls("abdcef"), 2), Slip::kSwapped);
  EXPECT_EQ(slip_of(calls("abcdef"), calls("adcbef"), 1), Slip::kSwapped);
}

TEST(SlipTest, ACallTooFewOrTooMany) {
  EXPECT_EQ(slip_of(calls("abcdefgh"), calls("abdefgh"), 2), Slip::kSkipped);
  EXPECT_EQ(slip_of(calls("abcdefgh"), calls("abxcdefgh"), 2), Slip::kExtra);
}

TEST(SlipTest, ADifferenceThatPassesIsNoSlip) {
  EXPECT_EQ(slip_of(calls("abcdef"), calls("abxdef"), 2), Slip::kPlain);
  // A loop looks shifted by a round to itself.
  EXPECT_EQ(slip_of(calls("abcabcabcabc"), calls("abcxycabcabc"), 3), Slip::kPlain);
}

TEST(SlipTest, TheEndOfWhatIsKnownProvesNothing) {
  EXPECT_EQ(slip_of(calls("abc"), calls("abx"), 2), Slip::kPlain);
  EXPECT_EQ(slip_of({}, {}, 0), Slip::kPlain);
}

TEST(HabitTest, WhatFollowedTwoCallsBeforeIsExpectedAgain) {
  EXPECT_EQ(habit_of(calls("abcabc"), 5), Habit::kKept);
  EXPECT_EQ(habit_of(calls("abcabx"), 5), Habit::kBroken);
  EXPECT_EQ(habit_of(calls("abcabC"), 5), Habit::kBroken);
  EXPECT_EQ(habit_of(calls("abcdef"), 5), Habit::kUnknown);
  EXPECT_EQ(habit_of(calls("ab"), 1), Habit::kUnknown);
  EXPECT_EQ(habit_of(calls("ab"), 9), Habit::kUnknown);
}

}  // namespace
}  // namespace plumbline::checks
