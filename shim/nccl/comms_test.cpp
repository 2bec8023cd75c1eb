#include "shim/nccl/comms.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "shim/core/current_call.hpp"
#include "shim/nccl/pending_births.hpp"

namespace plumbline::shim::nccl {
namespace {

using recorder::CommEvent;

void* handle(std::uintptr_t number) { return reinterpret_cast<void*>(0x7000 + number * 64); }

CommBirth birth(int rank = 0, int size = 2, char id = 'a') {
  NcclUniqueId unique_id{};
  unique_id.internal[5] = id;
  return birth_from_ids(&unique_id, 1, rank, size, nullptr, nullptr);
}

std::string name_of(void* comm) {
  const Comm* known = known_comm(comm);
  return known != nullptr ? known->name.text : "";
}

TEST(Communicators, AreNamedAfterTheirUniqueId) {
  end_birth(birth(0, 2, 'a'), handle(1), kSuccess);
  end_birth(birth(1, 2, 'a'), handle(2), kSuccess);
  end_birth(birth(0, 2, 'b'), handle(3), kSuccess);
  EXPECT_FALSE(name_of(handle(1)).empty());
  EXPECT_EQ(name_of(handle(1)), name_of(handle(2)));
  EXPECT_NE(name_of(handle(1)), name_of(handle(3)));
  EXPECT_EQ(known_comm(handle(2))->rank, 1);
}

TEST(Communicators, ThatWereNotMadeAreNotKnown) {
  end_birth(birth(), handle(4), kSystemError);
  EXPECT_EQ(known_comm(handle(4)), nullptr);
  end_birth(birth(), nullptr, kSuccess);
  EXPECT_EQ(known_comm(nullptr), nullptr);
}

TEST(Communicators, AreForgottenBeforeTheyAreFreed) {
  end_birth(birth(), handle(5), kSuccess);
  begin_end(CommEvent::kFinalize, handle(5));
  EXPECT_NE(known_comm(handle(5)), nullptr);
  const recorder::CommRecord record = begin_end(CommEvent::kDestroy, handle(5));
  EXPECT_EQ(record.size, 2);
  EXPECT_EQ(known_comm(handle(5)), nullptr);
}

TEST(Communicators, SplitInTheSameOrderHaveTheSameNameOnEveryRank) {
  // Two ranks of one communicator, as two processes would have them.
  end_birth(birth(0, 2, 'p'), handle(6), kSuccess);
  end_birth(birth(1, 2, 'p'), handle(7), kSuccess);
  const CommBirth first[] = {birth_from_split(handle(6), 3, nullptr, nullptr),
                             birth_from_split(handle(7), 3, nullptr, nullptr)};
  const CommBirth second[] = {birth_from_split(handle(6), 3, nullptr, nullptr),
                              birth_from_split(handle(7), 4, nullptr, nullptr)};
  EXPECT_EQ(first[0].unique_id_hash, first[1].unique_id_hash);
  EXPECT_NE(first[0].unique_id_hash, second[0].unique_id_hash) << "the next split is another communicator";
  EXPECT_NE(second[0].unique_id_hash, second[1].unique_id_hash) << "another color is another communicator";
  const CommBirth shrunk[] = {birth_from_shrink(handle(6), nullptr, nullptr),
                              birth_from_shrink(handle(7), nullptr, nullptr)};
  EXPECT_EQ(shrunk[0].unique_id_hash, shrunk[1].unique_id_hash);
}

TEST(Communicators, BelongToTheProcessGroupWhoseCallMadeThem) {
  CurrentCall* call = own_call();
  ASSERT_NE(call, nullptr);
  const CurrentCall before = *call;
  const char stack[3] = {};  // grows downwards: the call's own frame lies between those of two hooks
  *call = {11, 42, &stack[1], nullptr, 0, nullptr};
  EXPECT_EQ(birth_from_split(nullptr, 0, nullptr, &stack[0]).process_group, 42u);
  EXPECT_EQ(birth_from_split(nullptr, 0, nullptr, &stack[2]).process_group, 0u) << "that call has been left";
  *call = before;
}

TEST(PendingBirths, AreSettledByTheThreadThatDeferredThem) {
  void* place = nullptr;
  ASSERT_TRUE(defer_birth(birth(1, 2, 'd'), &place));
  place = handle(8);
  std::thread([] { settle_births(kSuccess); }).join();
  EXPECT_EQ(known_comm(handle(8)), nullptr) << "the place is no other thread's business";
  settle_births(kInProgress);
  EXPECT_EQ(known_comm(handle(8)), nullptr) << "not written yet";
  settle_births(kSuccess);
  ASSERT_NE(known_comm(handle(8)), nullptr);
  EXPECT_EQ(known_comm(handle(8))->rank, 1);
}

TEST(PendingBirths, AFailedOneIsNotLookedAt) {
  void* place = handle(9);
  ASSERT_TRUE(defer_birth(birth(), &place));
  settle_births(kSystemError);
  EXPECT_EQ(known_comm(handle(9)), nullptr);
  settle_births(kSuccess);
  EXPECT_EQ(known_comm(handle(9)), nullptr) << "it was settled before";
}

TEST(PendingBirths, TooManyAreRefused) {
  void* place = nullptr;
  int deferred = 0;
  while (deferred < 1000 && defer_birth(birth(), &place)) ++deferred;
  EXPECT_GE(deferred, 16);
  EXPECT_LT(deferred, 1000);
  settle_births(kSystemError);
  EXPECT_TRUE(defer_birth(birth(), &place));
  settle_births(kSystemError);
}

}  // namespace
}  // namespace plumbline::shim::nccl
