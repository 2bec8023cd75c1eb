#include "checks/testing/fake_world.hpp"

namespace plumbline::checks::testing {

std::string ranks_of_all(int ranks) {
  std::string text;
  for (int number = 0; number < ranks; ++number) text += (number == 0 ? "" : ",") + std::to_string(number);
  return text;
}

void write_ranks(const std::string& directory, int ranks, const RankActs& act) {
  for (int number = 0; number < ranks; ++number) {
    FakeRank rank(directory, number, ranks);
    act(number, rank, rank.group("0", "default_pg", ranks_of_all(ranks)));
    rank.exit(0);
  }
}

void call(FakeRank& rank, double ms, std::uint64_t group, Op op, const CallDetails& details) {
  rank.whole_call(ms, ms + 1, group, op, details);
}

}  // namespace plumbline::checks::testing
