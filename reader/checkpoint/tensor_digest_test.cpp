#include "reader/checkpoint/tensor_digest.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "reader/checkpoint/testing/checkpoint_files.hpp"

namespace plumbline::reader {
namespace {

using testing::checkpoint_of;
using testing::tensor_of;
using Kind = TensorDigest::Kind;

TEST(TensorDigestTest, TorchsHashIsTheExclusiveOrOfDoubles) {
  const Checkpoint state = checkpoint_of({tensor_of("w", {3}, {1.5F, -2.25F, 7.0F})});
  // torch.hash_tensor(torch.tensor([1.5, -2.25, 7.0])) of PyTorch 2.11.
  EXPECT_EQ(digest_as(DType::kF32, Kind::kTorchXor, state.tensors[0]), 0xbfe6000000000000U);
  const Checkpoint whole = checkpoint_of({tensor_of("w", {2}, {3, -5}, DType::kI64)});
  EXPECT_EQ(digest_as(DType::kI64, Kind::kTorchXor, whole.tensors[0]), 0xfffffffffffffff8U);
}

TEST(TensorDigestTest, ACastIsHashedAsTheCastTensorIs) {
  const Checkpoint wide = checkpoint_of({testing::tensor("w", {5000}, 1)});
  const Checkpoint narrow = checkpoint_of({testing::tensor("w", {5000}, 1, DType::kBF16)});
  for (const Kind kind : {Kind::kXxh3, Kind::kTorchXor}) {
    EXPECT_EQ(digest_as(DType::kBF16, kind, wide.tensors[0]), digest_as(DType::kBF16, kind, narrow.tensors[0]));
    EXPECT_NE(digest_as(DType::kBF16, kind, wide.tensors[0]), digest_as(DType::kF32, kind, wide.tensors[0]));
  }
}

TEST(TensorDigestTest, OrderCountsForOneAndNotForTheOther) {
  const Checkpoint one = checkpoint_of({tensor_of("w", {2}, {1, 2})});
  const Checkpoint other = checkpoint_of({tensor_of("w", {2}, {2, 1})});
  EXPECT_NE(digest_as(DType::kF32, Kind::kXxh3, one.tensors[0]), digest_as(DType::kF32, Kind::kXxh3, other.tensors[0]));
  EXPECT_EQ(digest_as(DType::kF32, Kind::kTorchXor, one.tensors[0]),
            digest_as(DType::kF32, Kind::kTorchXor, other.tensors[0]));
}

TEST(TensorDigestTest, WhatIsNoCastOfFloatsIsNotGuessed) {
  const Checkpoint state = checkpoint_of({tensor_of("w", {2}, {1, 2})});
  EXPECT_EQ(digest_as(DType::kI64, Kind::kXxh3, state.tensors[0]), std::nullopt);
}

}  // namespace
}  // namespace plumbline::reader
