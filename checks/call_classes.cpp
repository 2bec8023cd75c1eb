#include "checks/call_classes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumbline::checks {
namespace {

using reader::CallBlock;
using reader::CallSeries;
using reader::Collective;

// Classes that are read again for one block: beyond them the ranks have nothing in common anyway.
constexpr std::size_t kMostClasses = 8;
// Blocks in which only the lines differ, as they do in legal branches: after so many the rest is like them.
constexpr std::size_t kMostLineBlocks = 8;

struct Row {
  const FrontMember* member = nullptr;
  const CallSeries* series = nullptr;
};

std::vector<Row> rows_of(const Subject& subject, const GroupFront& front) {
  std::vector<Row> rows;
  for (const FrontMember& member : front.members) {
    if (!member.has_trace) continue;
    const reader::GroupLedger* ledger = subject.summaries()[member.trace].ledger.group(member.group);
    if (ledger != nullptr && ledger->collectives.calls > 0) rows.push_back({&member, &ledger->collectives});
  }
  return rows;
}

// Numbers of a block that all of `rows` have.
struct Span {
  std::int64_t from = 0;
  std::int64_t until = -1;
};

struct Block {
  std::uint64_t index = 0;
  std::vector<Row> rows;
  Span span;
  std::vector<std::vector<Row>> classes;  // by what was called and from where, the largest first
  bool terms_differ = false;
  bool lines_differ = false;
};

Block block_of(const std::vector<Row>& rows, std::uint64_t index) {
  Block block;
  block.index = index;
  block.span = {static_cast<std::int64_t>(index * CallSeries::kBlock),
                static_cast<std::int64_t>((index + 1) * CallSeries::kBlock) - 1};
  for (const Row& row : rows) {
    const CallBlock* own = row.series->block(index);
    if (own == nullptr) continue;
    // Of a rank that lost calls, the rest cannot be compared in sums; where it lost none, numbers have no gaps.
    const std::int64_t first = std::max(block.span.from, row.series->first);
    const std::int64_t last =
        std::min(static_cast<std::int64_t>((index + 1) * CallSeries::kBlock) - 1, row.series->last);
    if (static_cast<std::int64_t>(own->calls) != last - first + 1) continue;
    block.rows.push_back(row);
    block.span.until = std::min(block.span.until, last);
  }
  using Key = std::tuple<bool, std::int64_t, std::uint64_t, std::uint64_t>;
  std::map<Key, std::vector<Row>> classes;
  std::map<std::uint64_t, int> terms;
  for (const Row& row : block.rows) {
    const std::int64_t first = std::max(block.span.from, row.series->first);
    if (const auto sums = row.series->sums_until(index, block.span.until)) {
      classes[{true, first, sums->terms, sums->sites}].push_back(row);
      ++terms[reader::mixed(static_cast<std::uint64_t>(first), sums->terms)];
    } else {
      classes[{false, row.series->last, row.series->block(index)->terms, row.series->block(index)->sites}].push_back(
          row);
      block.terms_differ = true;
    }
  }
  block.terms_differ = block.terms_differ || terms.size() > 1;
  block.lines_differ = classes.size() > 1;
  for (auto& [key, members] : classes) block.classes.push_back(std::move(members));
  std::sort(block.classes.begin(), block.classes.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front().member->rank < b.front().member->rank;
  });
  return block;
}

// Is that line of the script one that the other rank comes by as well? A line that only one of them has is a branch for
// its role, and legal.
bool has_line(const Subject& subject, const Row& row, std::uint64_t site) {
  return subject.summaries()[row.member->trace].ledger.sites.contains(site);
}

struct Reader {
  const Subject& subject;
  const Block& block;
  std::vector<CallSequence> calls;  // of the first of each class

  Reader(const Subject& subject_, const Block& block_) : subject(subject_), block(block_) {
    for (std::size_t index = 0; index < block.classes.size() && index < kMostClasses; ++index) {
      const Row& row = block.classes[index].front();
      calls.push_back(
          read_block(subject.run().traces()[row.member->trace], row.member->group, *row.series, block.index));
    }
  }

  Difference between(std::size_t a, std::size_t b, std::uint64_t number) const {
    const auto one = calls[a].find(number);
    const auto other = calls[b].find(number);
    if (one == calls[a].end() || other == calls[b].end()) return Difference::kNone;
    const Difference difference = difference_of(one->second, other->second);
    if (difference == Difference::kSize && !splits_known(a, b, one->second)) return Difference::kNone;
    if (difference != Difference::kNone) return difference;
    const std::uint64_t site = one->second.site;
    const std::uint64_t other_site = other->second.site;
    if (reader::has_root(one->second.op) || site == 0 || other_site == 0 || site == other_site) {
      return Difference::kNone;
    }
    const bool both_have_both =
        has_line(subject, block.classes[b].front(), site) && has_line(subject, block.classes[a].front(), other_site);
    return both_have_both || one_left_its_path(a, b, number) ? Difference::kLine : Difference::kNone;
  }

  // How an all-to-all was split is not in other programs' files: there any sizes may be right.
  bool splits_known(std::size_t a, std::size_t b, const Collective& call) const {
    const auto imported = [&](std::size_t index) {
      return is_imported(subject.run().traces()[block.classes[index].front().member->trace]);
    };
    return !reader::is_all_to_all(call.op) || (!imported(a) && !imported(b));
  }

  // A branch that only one of them has, and that it does not take otherwise.
  bool one_left_its_path(std::size_t a, std::size_t b, std::uint64_t number) const {
    const Habit one = habit_of(calls[a], number);
    const Habit other = habit_of(calls[b], number);
    return (one == Habit::kKept && other == Habit::kBroken) || (one == Habit::kBroken && other == Habit::kKept);
  }

  // The first difference of a number to the largest class.
  Difference at(std::uint64_t number) const {
    for (std::size_t index = 1; index < calls.size(); ++index) {
      const Difference difference = between(0, index, number);
      if (difference != Difference::kNone) return difference;
    }
    return Difference::kNone;
  }

  FirstDifference found(std::uint64_t number, Difference difference) const {
    FirstDifference first;
    first.seq = number;
    first.difference = difference;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      if (!calls[index].contains(number)) continue;
      std::size_t into = 0;
      while (into < first.classes.size() && !same(index, first.classes[into], number)) ++into;
      if (into == first.classes.size()) first.classes.push_back({{}, calls[index]});
      for (const Row& row : block.classes[index]) first.classes[into].members.push_back(row.member);
    }
    for (CallClass& one : first.classes) one.habit = habit_of(one.calls, number);
    std::stable_sort(first.classes.begin(), first.classes.end(), [](const CallClass& a, const CallClass& b) {
      if (a.members.size() != b.members.size()) return a.members.size() > b.members.size();
      return a.habit != Habit::kBroken && b.habit == Habit::kBroken;
    });
    for (std::uint64_t later = number + 1; later <= static_cast<std::uint64_t>(block.span.until); ++later) {
      if (at(later) != Difference::kNone) ++first.further;
    }
    return first;
  }

  bool same(std::size_t index, const CallClass& other, std::uint64_t number) const {
    const Collective& a = calls[index].at(number);
    const Collective& b = other.calls.at(number);
    const Difference difference = difference_of(a, b);
    const bool agree =
        difference == Difference::kNone || (difference == Difference::kSize && !splits_known(index, index, a));
    return agree && (a.site == b.site || a.site == 0 || b.site == 0);
  }
};

bool is_line(Difference difference) { return difference == Difference::kLine; }

}  // namespace

CallComparison compare_calls(const Subject& subject, const GroupFront& front) {
  CallComparison comparison;
  const std::vector<Row> rows = rows_of(subject, front);
  if (rows.size() < 2) return comparison;
  std::uint64_t first = rows.front().series->first_block;
  std::uint64_t end = 0;
  for (const Row& row : rows) {
    first = std::min(first, row.series->first_block);
    end = std::max<std::uint64_t>(end, row.series->first_block + row.series->blocks.size());
  }
  std::size_t line_blocks = 0;
  for (std::uint64_t index = first; index < end; ++index) {
    const Block block = block_of(rows, index);
    if (block.rows.size() < 2) continue;
    comparison.compared +=
        static_cast<std::uint64_t>(std::max<std::int64_t>(0, block.span.until - block.span.from + 1));
    if (!block.lines_differ) continue;
    if (comparison.terms) {
      if (block.terms_differ) ++comparison.terms->further_blocks;
      continue;
    }
    if (!block.terms_differ && (comparison.lines || line_blocks == kMostLineBlocks)) {
      if (comparison.lines) {
        ++comparison.lines->further_blocks;
      } else {
        comparison.gave_up = true;
      }
      continue;
    }
    if (!block.terms_differ) ++line_blocks;
    const Reader reader(subject, block);
    const auto until = static_cast<std::uint64_t>(std::max<std::int64_t>(0, block.span.until));
    for (std::uint64_t number = static_cast<std::uint64_t>(block.span.from); number <= until; ++number) {
      const Difference difference = reader.at(number);
      if (difference == Difference::kNone) continue;
      auto& into = is_line(difference) ? comparison.lines : comparison.terms;
      if (!into) into = reader.found(number, difference);
      if (comparison.terms) break;
    }
  }
  return comparison;
}

}  // namespace plumbline::checks
