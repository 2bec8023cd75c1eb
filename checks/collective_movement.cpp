#include "checks/collective_movement.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace plumbline::checks {
namespace {

using recorder::Op;

bool is_message(Op op) { return op == Op::kSend || op == Op::kRecv || op == Op::kRecvAnySource; }

const Block* block_at(const std::vector<std::vector<Block>>& side, std::size_t member, std::size_t block) {
  return member < side.size() && block < side[member].size() ? &side[member][block] : nullptr;
}

// Of small blocks everything was captured: how much differs.
std::string extent(const Block& got, const Block& given) {
  if (got.places.empty() || got.places != given.places || got.bytes.size() != given.bytes.size()) return {};
  const std::size_t size = got.bytes.size() / got.places.size();
  std::size_t differ = 0;
  std::size_t first = 0;
  for (std::size_t i = got.places.size(); i-- > 0;) {
    if (std::equal(got.bytes.begin() + static_cast<std::ptrdiff_t>(i * size),
                   got.bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * size),
                   given.bytes.begin() + static_cast<std::ptrdiff_t>(i * size)))
      continue;
    ++differ;
    first = i;
  }
  return fmt::format(": {} of {} elements differ, first element {}", differ, got.places.size(), got.places[first]);
}

// What a wrong block is: another one that somebody gave, what was there before, or none of these.
std::string what_it_is(const CallBlocks& blocks, const std::vector<int>& members, const Block& got, const Block& given,
                       BlockSource source) {
  for (std::size_t member = 0; member < blocks.in.size(); ++member) {
    for (std::size_t block = 0; block < blocks.in[member].size(); ++block) {
      if (got.count == 0 || compare(blocks.in[member][block], got) != Same::kYes) continue;
      if (member == source.member) return fmt::format("is what rank {} gave as its block {}", members[member], block);
      return blocks.in[member].size() == 1 || block == source.block
                 ? fmt::format("is what rank {} gave", members[member])
                 : fmt::format("is what rank {} gave as its block {}", members[member], block);
    }
  }
  if (got.untouched) return "holds what was there before the call: it was not written";
  return "is none of the blocks that were given" + extent(got, given);
}

}  // namespace

BlockSource source_of(Op op, std::size_t root, std::size_t member, std::size_t block) {
  switch (op) {
    case Op::kBroadcast:
      return {root, 0};
    case Op::kScatter:
      return {root, member};
    case Op::kAllToAll:
    case Op::kAllToAllBase:
      return {block, member};
    default:
      return is_message(op) ? BlockSource{0, 0} : BlockSource{block, 0};
  }
}

MovementJudgement judge_movement(Op op, int root, const CallBlocks& blocks, const std::vector<int>& members) {
  MovementJudgement judgement;
  for (std::size_t member = 0; member < blocks.out.size(); ++member) {
    for (std::size_t block = 0; block < blocks.out[member].size(); ++block) {
      const BlockSource source = source_of(op, static_cast<std::size_t>(std::max(root, 0)), member, block);
      const Block& got = blocks.out[member][block];
      const Block* const given = block_at(blocks.in, source.member, source.block);
      const Same same = given != nullptr ? compare(*given, got) : Same::kUnknown;
      ++(same == Same::kUnknown ? judgement.unjudged : judgement.judged);
      if (same != Same::kNo) continue;
      judgement.wrong.push_back({member, block, source.member, what_it_is(blocks, members, got, *given, source)});
    }
  }
  return judgement;
}

}  // namespace plumbline::checks
