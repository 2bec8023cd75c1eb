#include "shim/torch/remembered_part.hpp"

#include <gtest/gtest.h>

#include "shim/torch/testing/fake_host.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using testing::counted;
using testing::FakeHost;

// A write that PyTorch does not see, as a backend makes it.
void write_past(const at::Tensor& tensor, std::int64_t place, float value) {
  static_cast<float*>(tensor.data_ptr())[place] = value;
}

class AdapterRememberedPart : public ::testing::Test {
 protected:
  RememberedPart looked_at(bool hashed) const {
    RememberedPart part(CollectivePart{{tensor_}, {100, 100, 100}});
    part.look(hashed);
    return part;
  }
  const FakeHost host_;
  at::Tensor tensor_ = counted({300});
};

TEST_F(AdapterRememberedPart, WhatStaysIsUnchanged) {
  for (const bool hashed : {false, true}) {
    const RememberedPart part = looked_at(hashed);
    EXPECT_FALSE(part.changed());
    EXPECT_FALSE(part.written());
    EXPECT_EQ(part.untouched(), (std::vector<std::size_t>{0, 1, 2}));
  }
}

TEST_F(AdapterRememberedPart, AWriteThroughPyTorchShowsWhereverItFalls) {
  const RememberedPart part = looked_at(false);
  tensor_.narrow(0, 299, 1).zero_();
  EXPECT_TRUE(part.written());
  EXPECT_TRUE(part.changed());
}

TEST_F(AdapterRememberedPart, AnotherWriteShowsWhereItFallsOnTheSample) {
  const RememberedPart part = looked_at(false);
  for (std::int64_t i = 100; i < 200; ++i) write_past(tensor_, i, -1);
  EXPECT_FALSE(part.written());
  EXPECT_TRUE(part.changed());
  EXPECT_EQ(part.untouched(), (std::vector<std::size_t>{0, 2}));
}

TEST_F(AdapterRememberedPart, WithAHashEveryWriteShows) {
  const RememberedPart part = looked_at(true);
  for (std::int64_t i = 0; i < 300; ++i) {
    write_past(tensor_, i, -1);
    EXPECT_TRUE(part.changed()) << i;
    write_past(tensor_, i, static_cast<float>(i));
    EXPECT_FALSE(part.changed()) << i;
  }
}

TEST_F(AdapterRememberedPart, EmptyBlocksAreNotUntouched) {
  RememberedPart part(CollectivePart{{counted({4}), counted({0}), counted({3})}, {4, 0, 3}, false});
  EXPECT_TRUE(part.untouched().empty());
  const Tensors kept{counted({4}), counted({0}), counted({3})};
  RememberedPart alive(CollectivePart{kept, {4, 0, 3}, false});
  alive.look(false);
  EXPECT_EQ(alive.untouched(), (std::vector<std::size_t>{0, 2}));
}

TEST_F(AdapterRememberedPart, PartsOfWhichElementsLieInOnePlaceOverlap) {
  const auto part_of = [](const at::Tensor& tensor) {
    return RememberedPart(CollectivePart{{tensor}, {static_cast<std::uint64_t>(tensor.numel())}});
  };
  const RememberedPart part = looked_at(false);
  EXPECT_TRUE(part.overlaps(part_of(tensor_.narrow(0, 299, 1))));
  EXPECT_FALSE(part_of(tensor_.narrow(0, 0, 100)).overlaps(part_of(tensor_.narrow(0, 100, 100))));
  EXPECT_FALSE(part.overlaps(part_of(tensor_.clone())));
  const RememberedPart of_a_view_that_is_gone = part_of(tensor_.narrow(0, 0, 100));
  EXPECT_FALSE(part.overlaps(of_a_view_that_is_gone));
}

TEST_F(AdapterRememberedPart, TensorsAreNotKeptAlive) {
  const RememberedPart part = looked_at(true);
  EXPECT_EQ(tensor_.use_count(), 1U);
  EXPECT_TRUE(part.holds(tensor_));
  EXPECT_FALSE(part.holds(tensor_.view({300})));
  ASSERT_TRUE(part.part());
  EXPECT_EQ(part.part()->blocks, (std::vector<std::uint64_t>{100, 100, 100}));
  tensor_.reset();
  EXPECT_FALSE(part.part());
  EXPECT_FALSE(part.changed());
  EXPECT_FALSE(part.written());
  EXPECT_TRUE(part.untouched().empty());
}

TEST_F(AdapterRememberedPart, ATensorWhoseStorageWasFreedHasChanged) {
  const RememberedPart part = looked_at(true);
  tensor_.storage().unsafeGetStorageImpl()->set_nbytes(0);
  EXPECT_TRUE(part.changed());
  EXPECT_TRUE(part.untouched().empty());
}

TEST_F(AdapterRememberedPart, WithoutElementsInReachNothingIsKnown) {
  for (const auto& [what, tensor] : testing::without_elements()) {
    RememberedPart part(CollectivePart{{tensor}, {6}});
    part.look(true);
    EXPECT_FALSE(part.changed()) << what;
    EXPECT_FALSE(part.written()) << what;
    EXPECT_TRUE(part.untouched().empty()) << what;
  }
}

}  // namespace
}  // namespace plumbline::shim::adapter
