#include "checks/memory_live_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "checks/whereabouts.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kMostBlocks = 8;
constexpr std::size_t kMostGroups = 6;

struct Piece {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Blocks lie in segments; what no block covers is a hole. Expandable segments are mapped in parts that join.
void find_holes(std::vector<Piece> segments, std::vector<Piece> blocks, LiveSet& set) {
  const auto by_begin = [](const Piece& a, const Piece& b) { return a.begin < b.begin; };
  std::sort(segments.begin(), segments.end(), by_begin);
  std::sort(blocks.begin(), blocks.end(), by_begin);
  std::size_t next = 0;
  for (std::size_t index = 0; index < segments.size();) {
    Piece whole = segments[index++];
    while (index < segments.size() && segments[index].begin == whole.end) whole.end = segments[index++].end;
    set.reserved += whole.end - whole.begin;
    std::uint64_t at = whole.begin;
    const auto hole = [&](std::uint64_t end) {
      if (end <= at) return;
      set.unused += end - at;
      set.largest_hole = std::max(set.largest_hole, end - at);
    };
    while (next < blocks.size() && blocks[next].begin < whole.begin) ++next;
    for (; next < blocks.size() && blocks[next].begin < whole.end; ++next) {
      hole(blocks[next].begin);
      at = std::max(at, blocks[next].end);
    }
    hole(whole.end);
  }
}

}  // namespace

LiveSet live_set_of(const MemoryLedger& ledger, std::uint32_t pool, std::uint64_t time_ns, std::int64_t step,
                    bool has_steps) {
  LiveSet set;
  set.pool = pool;
  set.time_ns = time_ns;
  set.step = step;
  const MemoryPool& own = ledger.pools()[pool];
  set.bytes = own.live_bytes;
  set.blocks = own.live_blocks;
  const bool caching = own.source == recorder::Source::kCachingBlock;
  std::map<std::pair<Age, std::uint64_t>, LiveGroup> groups;
  std::vector<Piece> segments;
  std::vector<Piece> pieces;
  const auto larger = [](const MemoryBlock& a, const MemoryBlock& b) {
    return a.size != b.size ? a.size > b.size : a.time_ns < b.time_ns;
  };
  ledger.for_each_live([&](const MemoryBlock& block) {
    const MemoryPool& other = ledger.pools()[block.pool];
    if (caching && other.source == recorder::Source::kCachingSegment && other.device == own.device)
      segments.push_back({block.address, block.address + block.size});
    if (block.pool != pool) return;
    if (caching) pieces.push_back({block.address, block.address + block.size});
    // A heap of the largest: the smallest of them at its front.
    set.largest.push_back(block);
    std::push_heap(set.largest.begin(), set.largest.end(), larger);
    if (set.largest.size() > kMostBlocks) {
      std::pop_heap(set.largest.begin(), set.largest.end(), larger);
      set.largest.pop_back();
    }
    const Age age = !has_steps || block.step == step ? Age::kThisStep
                    : block.step == 0                ? Age::kFirstStep
                                                     : Age::kEarlier;
    LiveGroup& group = groups[{age, block.range}];
    group.age = age;
    group.range = block.range;
    group.bytes += block.size;
    if (++group.blocks == 1 || larger(block, group.largest)) group.largest = block;
  });
  std::sort(set.largest.begin(), set.largest.end(), larger);
  for (const auto& [key, group] : groups) set.groups.push_back(group);
  std::sort(set.groups.begin(), set.groups.end(),
            [](const LiveGroup& a, const LiveGroup& b) { return a.bytes > b.bytes; });
  if (set.groups.size() > kMostGroups) set.groups.resize(kMostGroups);
  if (!segments.empty()) find_holes(std::move(segments), std::move(pieces), set);
  return set;
}

std::string line_of_request(const reader::Trace& trace, std::uint64_t size, std::uint64_t time_ns) {
  const auto distance = [&](const reader::Stack& stack) {
    return stack.time_ns > time_ns ? stack.time_ns - time_ns : time_ns - stack.time_ns;
  };
  const reader::Stack* nearest = nullptr;
  for (const reader::Stack& stack : trace.definitions().stacks) {
    const bool of_request =
        stack.reason == reader::StackReason::kLargeAllocation || stack.reason == reader::StackReason::kFailedAllocation;
    if (!of_request || stack.detail != size) continue;
    if (nearest == nullptr || distance(stack) < distance(*nearest)) nearest = &stack;
  }
  return nearest == nullptr ? std::string() : script_line(*nearest);
}

std::string origin_text(const reader::Trace& trace, const LiveGroup& group, std::int64_t step) {
  const std::string where = group.range == 0 ? "" : fmt::format(" in {}", trace.text(group.range));
  if (trace.steps().count() == 0) return "made" + (where.empty() ? " outside of all ranges" : where);
  switch (group.age) {
    case Age::kFirstStep:
      return "made before the end of step 0" + where;
    case Age::kEarlier:
      return "made in earlier steps" + where;
    case Age::kThisStep:
      return fmt::format("made in step {}{}", step, where);
  }
  return {};
}

}  // namespace plumbline::checks
