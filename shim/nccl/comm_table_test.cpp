#include "shim/nccl/comm_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

namespace plumbline::shim::nccl {
namespace {

// Tables are large, so they live on the heap here.
class CommTableTest : public testing::Test {
 protected:
  const void* handle(std::size_t number) const { return reinterpret_cast<const void*>(0x10000 + number * 64); }
  Comm* insert(std::size_t number, std::uint64_t group = 7) {
    return table->insert(handle(number), CommName{"name"}, group, 9, 1, 4);
  }

  std::unique_ptr<CommTable> table = std::make_unique<CommTable>();
};

TEST_F(CommTableTest, KnowsWhatWasInserted) {
  Comm* comm = insert(1);
  ASSERT_NE(comm, nullptr);
  EXPECT_EQ(table->find(handle(1)), comm);
  EXPECT_EQ(comm->group, 7u);
  EXPECT_EQ(comm->process_group, 9u);
  EXPECT_EQ(comm->rank, 1);
  EXPECT_EQ(comm->size, 4);
  EXPECT_STREQ(comm->name.text, "name");
  EXPECT_EQ(table->find(handle(2)), nullptr);
}

TEST_F(CommTableTest, NoCommunicatorIsNeverKnown) {
  EXPECT_EQ(table->insert(nullptr, {}, 1, 0, 0, 1), nullptr);
  EXPECT_EQ(table->find(nullptr), nullptr);
}

TEST_F(CommTableTest, ForgetsWhatWasErased) {
  insert(1);
  table->erase(handle(1));
  EXPECT_EQ(table->find(handle(1)), nullptr);
  table->erase(handle(1));
}

TEST_F(CommTableTest, AnAddressThatIsUsedAgainStartsAnew) {
  Comm* first = insert(1, 7);
  first->collectives = 12;
  first->children = 3;
  Comm* second = insert(1, 8);
  EXPECT_EQ(second, first);
  EXPECT_EQ(second->group, 8u);
  EXPECT_EQ(second->collectives, 0u);
  EXPECT_EQ(second->children, 0u);
}

TEST_F(CommTableTest, AFullTableRefusesAndHasRoomAgainAfterAnErasure) {
  for (std::size_t number = 0; number < CommTable::kCapacity; ++number) ASSERT_NE(insert(number), nullptr);
  EXPECT_EQ(insert(CommTable::kCapacity), nullptr);
  EXPECT_EQ(table->find(handle(CommTable::kCapacity)), nullptr);
  table->erase(handle(17));
  ASSERT_NE(insert(CommTable::kCapacity), nullptr);
  for (std::size_t number = 0; number <= CommTable::kCapacity; ++number) {
    EXPECT_EQ(table->find(handle(number)) != nullptr, number != 17) << number;
  }
}

TEST_F(CommTableTest, EntriesBehindAnErasedOneAreStillFound) {
  for (std::size_t number = 0; number < 900; ++number) insert(number);
  for (std::size_t number = 0; number < 900; number += 2) table->erase(handle(number));
  for (std::size_t number = 1; number < 900; number += 2) EXPECT_NE(table->find(handle(number)), nullptr) << number;
}

TEST_F(CommTableTest, LookupsRunBesideInsertionsAndRemovals) {
  insert(0);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      for (std::size_t round = 0; round < 2000; ++round) {
        const std::size_t mine = 1 + thread * 10 + round % 10;
        insert(mine, mine);
        const Comm* found = table->find(handle(mine));
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->group, mine);
        EXPECT_NE(table->find(handle(0)), nullptr);
        table->erase(handle(mine));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace plumbline::shim::nccl
