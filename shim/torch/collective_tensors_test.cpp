#include "shim/torch/collective_tensors.hpp"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::Op;
using testing::counted;
using Blocks = std::vector<std::uint64_t>;

constexpr int kRank = 1;
constexpr int kSize = 3;

CollectiveTensors of(Op op, std::initializer_list<const void*> arguments) {
  std::vector<void*> values;
  for (const void* argument : arguments) values.push_back(const_cast<void*>(argument));
  return collective_tensors(op, Arguments(values.data()), kRank, kSize);
}

// The blocks of each part.
std::vector<Blocks> blocks(const std::vector<CollectivePart>& parts) {
  std::vector<Blocks> all;
  for (const CollectivePart& part : parts) all.push_back(part.blocks);
  return all;
}

bool holds(const CollectivePart& part, const Tensors& tensors) {
  if (part.tensors.size() != tensors.size()) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!part.tensors[i].is_same(tensors[i])) return false;
  }
  return true;
}

class AdapterCollectiveTensors : public ::testing::Test {
 protected:
  const Tensors two_{counted({4}), counted({2, 3})};
  const Tensors three_{counted({5}), counted({5}), counted({5})};
  const Tensors uneven_{counted({1}), counted({0}), counted({7})};
  const TensorLists lists_{three_, uneven_};
};

TEST_F(AdapterCollectiveTensors, AllReduceIsInPlaceTensorByTensor) {
  const auto options = c10d::AllreduceOptions();
  for (const Op op : {Op::kAllReduce, Op::kAllReduceCoalesced}) {
    const auto found = of(op, {&two_, &options});
    EXPECT_TRUE(found.in_place);
    EXPECT_EQ(blocks(found.in), (std::vector<Blocks>{{4}, {6}}));
    EXPECT_EQ(blocks(found.out), blocks(found.in));
    EXPECT_TRUE(holds(found.in[1], {two_[1]}));
  }
}

TEST_F(AdapterCollectiveTensors, OfReduceTheRootGetsTheResult) {
  c10d::ReduceOptions options;
  options.rootRank = kRank;
  EXPECT_EQ(of(Op::kReduce, {&two_, &options}).out.size(), 2U);
  options.rootRank = 0;
  const auto other = of(Op::kReduce, {&two_, &options});
  EXPECT_EQ(other.in.size(), 2U);
  EXPECT_TRUE(other.out.empty());
}

TEST_F(AdapterCollectiveTensors, OfBroadcastTheRootGives) {
  c10d::BroadcastOptions options;
  options.rootRank = kRank;
  EXPECT_EQ(of(Op::kBroadcast, {&two_, &options}).in.size(), 2U);
  options.rootRank = 2;
  const auto other = of(Op::kBroadcast, {&two_, &options});
  EXPECT_TRUE(other.in.empty());
  EXPECT_EQ(blocks(other.out), (std::vector<Blocks>{{4}, {6}}));
}

TEST_F(AdapterCollectiveTensors, GathersAreListsByPeer) {
  for (const Op op : {Op::kAllGather, Op::kGather}) {
    const auto found = of(op, {&lists_, &two_});
    EXPECT_EQ(blocks(found.in), (std::vector<Blocks>{{4}, {6}}));
    EXPECT_EQ(blocks(found.out), (std::vector<Blocks>{{5, 5, 5}, {1, 0, 7}}));
    EXPECT_TRUE(found.out[0].even);
    EXPECT_FALSE(found.out[1].even);
    EXPECT_TRUE(holds(found.out[1], uneven_));
    EXPECT_FALSE(found.in_place);
  }
}

TEST_F(AdapterCollectiveTensors, ScattersAreListsByPeer) {
  for (const Op op : {Op::kReduceScatter, Op::kScatter}) {
    const auto found = of(op, {&two_, &lists_});
    EXPECT_EQ(blocks(found.in), (std::vector<Blocks>{{5, 5, 5}, {1, 0, 7}}));
    EXPECT_EQ(blocks(found.out), (std::vector<Blocks>{{4}, {6}}));
  }
}

TEST_F(AdapterCollectiveTensors, ACoalescedGatherHasListsOfTensorsByPeer) {
  const TensorLists by_peer{{counted({4}), counted({2, 3})}, {counted({4}), counted({2, 3})}, {counted({4})}};
  const auto found = of(Op::kAllGatherCoalesced, {&by_peer, &two_});
  EXPECT_EQ(blocks(found.out), (std::vector<Blocks>{{4, 4, 4}, {6, 6}}));
  EXPECT_TRUE(holds(found.out[1], {by_peer[0][1], by_peer[1][1]}));
  const TensorLists none;
  EXPECT_TRUE(of(Op::kAllGatherCoalesced, {&none, &two_}).out.empty());
}

TEST_F(AdapterCollectiveTensors, OneTensorForAllPeersIsDivided) {
  const at::Tensor large = counted({6, 2});
  const at::Tensor small = counted({2, 2});
  EXPECT_EQ(blocks(of(Op::kAllGatherBase, {&large, &small}).out), (std::vector<Blocks>{{4, 4, 4}}));
  EXPECT_EQ(blocks(of(Op::kAllGatherBase, {&large, &small}).in), (std::vector<Blocks>{{4}}));
  EXPECT_EQ(blocks(of(Op::kReduceScatterBase, {&small, &large}).in), (std::vector<Blocks>{{4, 4, 4}}));
  EXPECT_EQ(blocks(of(Op::kReduceScatterBase, {&small, &large}).out), (std::vector<Blocks>{{4}}));
  const Tensors larger{counted({12}), counted({3})};
  const Tensors smaller{counted({4}), counted({1})};
  EXPECT_EQ(blocks(of(Op::kAllGatherIntoTensorCoalesced, {&larger, &smaller}).out),
            (std::vector<Blocks>{{4, 4, 4}, {1, 1, 1}}));
  EXPECT_EQ(blocks(of(Op::kReduceScatterTensorCoalesced, {&smaller, &larger}).in),
            (std::vector<Blocks>{{4, 4, 4}, {1, 1, 1}}));
}

TEST_F(AdapterCollectiveTensors, AnExchangeOfLists) {
  const auto found = of(Op::kAllToAll, {&uneven_, &three_});
  EXPECT_EQ(blocks(found.in), (std::vector<Blocks>{{5, 5, 5}}));
  EXPECT_EQ(blocks(found.out), (std::vector<Blocks>{{1, 0, 7}}));
}

TEST_F(AdapterCollectiveTensors, AnExchangeBySplitsOfRows) {
  const at::Tensor in = counted({6, 2, 2});
  const at::Tensor out = counted({3, 2, 2});
  const Splits given{1, 0, 5};
  const Splits got{1, 1, 1};
  const Splits equal;
  const auto found = of(Op::kAllToAllBase, {&out, &in, &got, &given});
  EXPECT_EQ(blocks(found.in), (std::vector<Blocks>{{4, 0, 20}}));
  EXPECT_FALSE(found.in[0].even);
  EXPECT_EQ(blocks(found.out), (std::vector<Blocks>{{4, 4, 4}}));
  EXPECT_TRUE(found.out[0].even);
  EXPECT_EQ(blocks(of(Op::kAllToAllBase, {&out, &in, &equal, &equal}).in), (std::vector<Blocks>{{8, 8, 8}}));
}

TEST_F(AdapterCollectiveTensors, AnExchangeOfNothing) {
  const at::Tensor none = counted({0, 4});
  const at::Tensor number = counted({});
  const Splits zeros{0, 0, 0};
  EXPECT_EQ(blocks(of(Op::kAllToAllBase, {&none, &none, &zeros, &zeros}).in), (std::vector<Blocks>{{0, 0, 0}}));
  EXPECT_EQ(blocks(of(Op::kAllToAllBase, {&number, &number, &zeros, &zeros}).in), (std::vector<Blocks>{{0, 0, 0}}));
}

TEST_F(AdapterCollectiveTensors, FromOneToOne) {
  const auto sent = of(Op::kSend, {&two_});
  EXPECT_EQ(blocks(sent.in), (std::vector<Blocks>{{4}, {6}}));
  EXPECT_TRUE(sent.out.empty());
  for (const Op op : {Op::kRecv, Op::kRecvAnySource}) {
    const auto received = of(op, {&two_});
    EXPECT_TRUE(received.in.empty());
    EXPECT_EQ(blocks(received.out), (std::vector<Blocks>{{4}, {6}}));
  }
}

TEST_F(AdapterCollectiveTensors, UndefinedTensorsHaveNoElements) {
  const Tensors undefined{at::Tensor(), counted({4})};
  const auto options = c10d::AllreduceOptions();
  EXPECT_EQ(blocks(of(Op::kAllReduce, {&undefined, &options}).in), (std::vector<Blocks>{{0}, {4}}));
  const at::Tensor none;
  const Splits splits{1, 1, 1};
  EXPECT_EQ(blocks(of(Op::kAllToAllBase, {&none, &none, &splits, &splits}).in), (std::vector<Blocks>{{0, 0, 0}}));
}

TEST_F(AdapterCollectiveTensors, CallsThatMoveNoDenseTensors) {
  for (const Op op : {Op::kUnknown, Op::kAllReduceSparse, Op::kBarrier, Op::kMonitoredBarrier, Op::kGroupCall}) {
    const auto found = of(op, {&two_});
    EXPECT_TRUE(found.in.empty());
    EXPECT_TRUE(found.out.empty());
  }
}

}  // namespace
}  // namespace plumbline::shim::adapter
