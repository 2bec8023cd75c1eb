#include "reader/import/plain_data.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace plumbline::reader::imports {
namespace {

TEST(PlainDataTest, WholeNumbersOfEverySize) {
  PlainData data;
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, (std::int64_t{1} << 55) - 1, -(std::int64_t{1} << 55), std::int64_t{1} << 55,
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(data.integer(data.make_int(number)), number);
  }
}

TEST(PlainDataTest, NumbersInTexts) {
  PlainData data;
  EXPECT_EQ(data.integer(data.make_text("-44790")), -44790);
  EXPECT_FALSE(data.integer(data.make_text("12a")).has_value());
  EXPECT_FALSE(data.integer(data.make_text("")).has_value());
  EXPECT_FALSE(data.integer(data.make_float(1.5)).has_value());
  EXPECT_EQ(data.number_or(data.make_float(1.5), 0), 1.5);
  EXPECT_EQ(data.number_or(data.make_int(2), 0), 2);
  EXPECT_EQ(data.number_or(Value{}, 7), 7);
}

TEST(PlainDataTest, AskingForWhatAValueIsNotGivesTheEmptyAnswer) {
  PlainData data;
  const Value number = data.make_int(3);
  EXPECT_EQ(data.text(number), "");
  EXPECT_TRUE(data.items(number).empty());
  EXPECT_TRUE(data.member(number, "x").is_none());
  EXPECT_FALSE(data.truth(number));
  EXPECT_EQ(data.identity(number), 0U);
  EXPECT_TRUE(data.items(Value{}).empty());
}

TEST(PlainDataTest, OfAKeyThatOccursTwiceTheLastCounts) {
  PlainData data;
  const Value dict = data.make_dict();
  const std::vector<Value> pairs = {data.make_text("a"), data.make_int(1), data.make_text("a"), data.make_int(2)};
  data.append(dict, pairs);
  EXPECT_EQ(data.integer(data.member(dict, "a")), 2);
}

TEST(PlainDataTest, ContainersThatGrowInTurnsKeepTheirValues) {
  PlainData data;
  const Value a = data.make_list();
  const Value b = data.make_list();
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Value one = data.make_int(i);
    data.append(a, {&one, 1});
    if (i % 3 == 0) data.append(b, {&one, 1});
  }
  ASSERT_EQ(data.items(a).size(), 1000U);
  ASSERT_EQ(data.items(b).size(), 334U);
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(data.integer(data.items(a)[static_cast<std::size_t>(i)]), i);
  EXPECT_EQ(data.integer(data.items(b)[333]), 999);
}

TEST(PlainDataTest, ADataCanBeMoved) {
  PlainData data;
  data.set_root(data.make_text(data.keep("short")));
  const PlainData moved = std::move(data);
  EXPECT_EQ(moved.text(moved.root()), "short");
}

}  // namespace
}  // namespace plumbline::reader::imports
