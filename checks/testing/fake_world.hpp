// The ranks of one group that all of them are in, for tests of what they call together.
//
//   write_ranks(directory.path(), 3, [](int number, FakeRank& rank, std::uint64_t world) {
//     call(rank, 10, world, number == 2 ? Op::kAllGather : Op::kAllReduce);
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "checks/testing/fake_rank.hpp"

namespace plumbline::checks::testing {

// "0,1,2": the ranks of a group of so many.
std::string ranks_of_all(int ranks);

// What a rank does before it ends in order.
using RankActs = std::function<void(int number, FakeRank& rank, std::uint64_t world)>;
void write_ranks(const std::string& directory, int ranks, const RankActs& act);

// A call of a millisecond.
void call(FakeRank& rank, double ms, std::uint64_t group, Op op, const CallDetails& details = {});

}  // namespace plumbline::checks::testing
