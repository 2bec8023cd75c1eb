#include "shim/torch/capture_part.hpp"

#include <gtest/gtest.h>

#include "shim/torch/testing/fake_host.hpp"
#include "shim/torch/testing/tensors.hpp"

namespace plumbline::shim::adapter {
namespace {

using recorder::CaptureAmount;
using recorder::Op;
using testing::bytes_of;
using testing::counted;
using testing::FakeHost;
using testing::KeptCapture;

class AdapterCapturePart : public ::testing::Test {
 protected:
  static CollectiveCapture call(Op op, std::uint64_t divided = 1) {
    CollectiveCapture call;
    call.op = op;
    call.id = 7;
    call.step = 3;
    call.divided = divided;
    call.name = "name";
    call.detail = "{\"op\":1";
    return call;
  }
  KeptCapture in(const CollectiveCapture& of, const CollectivePart& part) {
    host_.captures.clear();
    capture_input(of, part, 0, 1);
    return host_.captures.empty() ? KeptCapture{} : host_.captures.front();
  }
  KeptCapture out(const CollectiveCapture& of, const CollectivePart& part, bool changed, bool apart) {
    host_.captures.clear();
    RememberedPart remembered(part);
    remembered.look(false);
    capture_output(of, remembered, 2, 4, {.changed = changed, .apart = apart});
    return host_.captures.empty() ? KeptCapture{} : host_.captures.front();
  }
  void SetUp() override { host_.wish = {0, 16, true, false}; }

  FakeHost host_;
  const at::Tensor large_ = counted({30, 10});
};

TEST_F(AdapterCapturePart, OfASmallPartAllElements) {
  const auto kept = in(call(Op::kAllReduce), {{counted({4, 4})}, {16}});
  EXPECT_EQ(kept.probe, "collective.in");
  EXPECT_EQ(kept.name, "name");
  EXPECT_EQ(kept.step, 3);
  EXPECT_EQ(kept.key, 7U);
  EXPECT_EQ(kept.device, "cpu");
  EXPECT_EQ(kept.amount, CaptureAmount::kFull);
  EXPECT_EQ(kept.data, bytes_of(counted({4, 4})));
  EXPECT_EQ(kept.shape, (std::vector<std::uint64_t>{4, 4}));
  EXPECT_EQ(kept.detail, "{\"op\":1,\"tensor\":0,\"tensors\":1,\"blocks\":1}");
}

TEST_F(AdapterCapturePart, OfWhatIsReducedASampleAndAHashOfTheResult) {
  const auto given = in(call(Op::kAllReduce), {{large_}, {300}});
  EXPECT_EQ(given.amount, CaptureAmount::kSample);
  EXPECT_EQ(given.indices.size(), 16U);
  EXPECT_EQ(given.data.size(), 16 * sizeof(float));
  EXPECT_TRUE(given.blocks.empty());
  const auto got = out(call(Op::kAllReduce), {{large_}, {300}}, false, false);
  EXPECT_EQ(got.probe, "collective.out");
  EXPECT_EQ(got.indices, given.indices);
  EXPECT_EQ(got.data, given.data);
  EXPECT_EQ(got.blocks, std::vector<std::uint64_t>{testing::hash_of(large_.const_data_ptr(), large_.nbytes())});
  EXPECT_EQ(got.occurrence, 2U);
}

// 16 of a block are the least, so that a block of many says something too.
TEST_F(AdapterCapturePart, ASampleIsSharedByTheBlocks) {
  host_.wish.samples = 96;
  EXPECT_EQ(in(call(Op::kReduceScatterBase, 3), {{large_}, {100, 100, 100}}).indices.size(), 3 * 32U);
  host_.wish.samples = 24;
  EXPECT_EQ(in(call(Op::kReduceScatterBase, 3), {{large_}, {100, 100, 100}}).indices.size(), 3 * 16U);
  host_.wish.samples = 8;
  EXPECT_EQ(in(call(Op::kReduceScatterBase, 3), {{large_}, {100, 100, 100}}).indices.size(), 3 * 8U);
}

TEST_F(AdapterCapturePart, OfWhatIsMovedAHashOfEachBlock) {
  const auto kept = in(call(Op::kAllToAllBase, 3), {{large_}, {100, 0, 200}, false});
  EXPECT_EQ(kept.amount, CaptureAmount::kNote);
  EXPECT_EQ(kept.blocks.size(), 3U);
  EXPECT_NE(kept.detail.find("\"splits\":[100,0,200]"), std::string::npos) << kept.detail;
}

TEST_F(AdapterCapturePart, StridedTensorsAreMarked) {
  const auto kept = in(call(Op::kAllReduce), {{counted({4, 4}).t()}, {16}});
  EXPECT_NE(kept.detail.find("\"strided\":true"), std::string::npos) << kept.detail;
  EXPECT_EQ(kept.data, bytes_of(counted({4, 4}).t()));
}

TEST_F(AdapterCapturePart, AChangeAndBlocksThatStayedAreTold) {
  const CollectivePart part{{large_}, {100, 100, 100}};
  EXPECT_NE(out(call(Op::kAllGatherBase, 3), part, true, false).detail.find("\"changed\":true"), std::string::npos);
  EXPECT_NE(out(call(Op::kAllGatherBase, 3), part, false, true).detail.find("\"untouched\":[0,1,2]"),
            std::string::npos);
  EXPECT_EQ(out(call(Op::kAllGatherBase, 3), part, false, false).detail.find("untouched"), std::string::npos);
  const CollectivePart many{{large_}, std::vector<std::uint64_t>(30, 10)};
  EXPECT_EQ(out(call(Op::kAllGatherBase, 30), many, false, true).detail.find("untouched"), std::string::npos);
}

TEST_F(AdapterCapturePart, AChangeIsToldOfACallThatLeavesNothing) {
  capture_changed_input(call(Op::kSend));
  ASSERT_EQ(host_.captures.size(), 1U);
  EXPECT_EQ(host_.captures.front().amount, CaptureAmount::kNote);
  EXPECT_EQ(host_.captures.front().detail, "{\"op\":1,\"changed\":true}");
}

TEST_F(AdapterCapturePart, NothingIsKeptOfSplitsThatReachPastTheTensor) {
  const auto before = static_cast<std::uint64_t>(std::int64_t{-100});
  in(call(Op::kAllToAllBase, 2), {{large_}, {before, 400}, false});
  EXPECT_TRUE(host_.captures.empty());
}

TEST_F(AdapterCapturePart, NothingIsKeptWithoutElementsInReach) {
  for (const auto& [what, tensor] : testing::without_elements()) {
    const CollectivePart part{{tensor}, {6}};
    out(call(Op::kAllReduce), part, false, false);
    EXPECT_TRUE(host_.captures.empty()) << what;
  }
}

}  // namespace
}  // namespace plumbline::shim::adapter
