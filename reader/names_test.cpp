#include "reader/names.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace plumbline::reader {
namespace {

using recorder::Dtype;
using recorder::Kind;
using recorder::Op;
using recorder::Outcome;
using recorder::ReduceOp;

TEST(NamesTest, EveryOperationHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int op = 0; op < static_cast<int>(Op::kCount_); ++op) names.insert(name_of(static_cast<Op>(op)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(Op::kCount_));
}

TEST(NamesTest, NumbersOfANewerTraceAreUnknown) {
  EXPECT_EQ(name_of(static_cast<Op>(200)), "unknown");
  EXPECT_EQ(name_of(static_cast<Kind>(31)), "unknown");
  EXPECT_EQ(name_of(static_cast<Outcome>(99)), "unknown");
  EXPECT_EQ(size_of(static_cast<Dtype>(77)), 0U);
}

TEST(NamesTest, NoReduceOpIsEmpty) {
  EXPECT_EQ(name_of(ReduceOp::kNone), "");
  EXPECT_EQ(name_of(ReduceOp::kAvg), "avg");
}

TEST(NamesTest, KindsAreFoundByTheirNames) {
  for (int kind = 2; kind <= static_cast<int>(Kind::kComm); ++kind) {
    EXPECT_EQ(kind_named(name_of(static_cast<Kind>(kind))), static_cast<Kind>(kind));
  }
  EXPECT_EQ(kind_named("nonsense"), std::nullopt);
}

TEST(NamesTest, ElementSizes) {
  EXPECT_EQ(size_of(Dtype::kBfloat16), 2U);
  EXPECT_EQ(size_of(Dtype::kFloat32), 4U);
  EXPECT_EQ(size_of(Dtype::kComplex128), 16U);
  EXPECT_EQ(size_of(Dtype::kUnknown), 0U);
}

}  // namespace
}  // namespace plumbline::reader
