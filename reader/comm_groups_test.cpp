#include "reader/comm_groups.hpp"

#include <gtest/gtest.h>

#include "reader/testing/records.hpp"
#include "reader/testing/ring_file.hpp"

namespace plumbline::reader {
namespace {

using namespace testing;

constexpr std::uint64_t kHash = 0xabcdef;
constexpr const char* kName = "nccl-0000000000abcdef";

recorder::CommRecord made(std::uint64_t process_group, std::int32_t rank, std::int32_t size,
                          std::uint64_t hash = kHash) {
  recorder::CommRecord record{};
  record.header = {2000, recorder::Kind::kComm, recorder::slots_of<recorder::CommRecord>(), 0, 0};
  record.comm = 0x7000;
  record.unique_id_hash = hash;
  record.rank = rank;
  record.size = size;
  record.group = process_group;
  return record;
}

std::vector<int> ranks_of(const Trace& trace, std::uint64_t group) { return trace.group(group)->ranks; }

class CommGroupsTest : public ::testing::Test {
 protected:
  TempDir directory_;
  TraceBuilder builder_{directory_.path(), {.rank = 5, .world_size = 8}};
};

TEST_F(CommGroupsTest, ACommunicatorHasTheRanksOfTheProcessGroupThatMadeIt) {
  const auto tensor_parallel = builder_.group("3", "tp", "nccl", "1,5", 1, 2);
  const auto comm = builder_.group(kName, "NCCL communicator", "nccl", "-1", 1, 2);
  builder_.add(0, made(tensor_parallel, 1, 2));
  builder_.finish({});
  const Trace trace = open_trace(builder_.path());
  EXPECT_EQ(ranks_of(trace, comm), (std::vector<int>{1, 5}));
}

TEST_F(CommGroupsTest, AlsoOfAKilledProcessWhoseRingAloneKnows) {
  const auto tensor_parallel = builder_.group("3", "tp", "nccl", "1,5", 1, 2);
  const auto comm = builder_.group(kName, "NCCL communicator", "nccl", "-1", 1, 2);
  builder_.flush();
  RingFile ring(1, 64);
  ring.push(0, made(tensor_parallel, 1, 2));
  ring.save(directory_ / "a.ring");
  const Trace trace = open_trace(builder_.path(), directory_ / "a.ring");
  EXPECT_EQ(ranks_of(trace, comm), (std::vector<int>{1, 5}));
}

TEST_F(CommGroupsTest, WithoutItsProcessGroupTheRanksStayUnknown) {
  const auto comm = builder_.group(kName, "NCCL communicator", "nccl", "-1", 1, 2);
  builder_.add(0, made(0, 1, 2));
  builder_.add(0, made(0x1234, 1, 2));
  builder_.finish({});
  EXPECT_EQ(ranks_of(open_trace(builder_.path()), comm), std::vector<int>{-1});
}

// A send between two of eight ranks has a communicator of two.
TEST_F(CommGroupsTest, AGroupOfAnotherSizeOrPlaceIsNotTheirs) {
  const auto world = builder_.group("0", "default_pg", "nccl", "", 5, 8);
  const auto pair = builder_.group("4", "pp", "nccl", "5,6", 0, 2);
  const auto comm = builder_.group(kName, "NCCL communicator", "nccl", "-1", 1, 2);
  const auto other = builder_.group("nccl-0000000000000007", "NCCL communicator", "nccl", "-1", 1, 2);
  builder_.add(0, made(world, 1, 2));
  builder_.add(0, made(pair, 1, 2, 7));
  builder_.finish({});
  const Trace trace = open_trace(builder_.path());
  EXPECT_EQ(ranks_of(trace, comm), std::vector<int>{-1});
  EXPECT_EQ(ranks_of(trace, other), std::vector<int>{-1});
}

TEST_F(CommGroupsTest, RanksThatAreKnownStay) {
  const auto world = builder_.group("0", "default_pg", "nccl", "", 5, 8);
  const auto comm = builder_.group(kName, "NCCL communicator", "nccl", "", 5, 8);
  builder_.add(0, made(world, 5, 8));
  builder_.finish({});
  EXPECT_EQ(ranks_of(open_trace(builder_.path()), comm).size(), 8U);
}

}  // namespace
}  // namespace plumbline::reader
