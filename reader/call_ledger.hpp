// What one rank called, in a form that is small and can be compared with other ranks' without reading again.
//
// Calls of a group are numbered, and so are those between a pair of ranks. For every block of kBlock numbers the ledger
// has a sum of hashes over what the calls were: two ranks whose sums are equal made the same calls. Only blocks that
// differ have to be read again.
//
//   for (const GroupLedger& group : summary.ledger.groups) …
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reader/collectives.hpp"

namespace plumbline::reader {

struct CallBlock {
  std::uint64_t terms = 0;     // sum of hashes of (number, CallTerms)
  std::uint64_t sites = 0;     // sum of hashes of (number, line of the script), of calls without a root
  std::int64_t exchanged = 0;  // all-to-all: elements given minus elements got; zero over all ranks
  std::uint32_t calls = 0;
  std::uint32_t undescribed = 0;  // calls of which only the operation is known
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_ns = 0;
};

// Calls that are numbered together, in blocks.
struct CallSeries {
  static constexpr std::uint64_t kBlock = 256;
  // Numbers that far beyond the first are a broken trace's, not a job's.
  static constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 20;

  std::uint64_t calls = 0;
  std::int64_t first = -1;  // least and greatest number; -1: no call
  std::int64_t last = -1;
  std::uint64_t first_block = 0;  // number / kBlock of blocks.front()
  std::vector<CallBlock> blocks;

  // What the latest numbers have in their block's sums, so that ranks can be compared up to where the slowest is.
  struct Part {
    std::uint64_t terms = 0;
    std::uint64_t sites = 0;
  };
  static constexpr std::uint64_t kRecent = 32;
  std::array<Part, kRecent> recent{};  // by number modulo kRecent

  // Null for a number that no call had.
  CallBlock* block_for(std::uint64_t number);
  const CallBlock* block(std::uint64_t index) const;
  // The sums of a block over the numbers up to `last` only; nothing when they are not known any more.
  std::optional<Part> sums_until(std::uint64_t index, std::int64_t last) const;
};

struct GroupLedger {
  std::uint64_t group = 0;    // Trace::group()
  CallSeries collectives;     // outermost calls only
  std::int64_t started = -1;  // greatest number that began to execute, and that ended
  std::int64_t completed = -1;
  std::optional<Collective> failed;  // the first that ended with an error, or raised
};

// Calls from this rank to a peer, or from the peer to this rank, with one tag: the nth send goes with the nth receive.
struct PairLedger {
  std::uint64_t group = 0;
  std::int32_t peer = -1;  // group-local
  std::int32_t tag = 0;
  bool sends = false;
  std::int64_t last_seq =
      -1;  // greatest Collective::seq: both sides count alike where a dump has the job's own numbers
  CallSeries calls;
  std::array<std::uint64_t, 32> recent{};  // ids of the latest calls, by number

  // Number of a call among its pair's, if it is one of the latest.
  std::optional<std::uint64_t> number_of(std::uint64_t id) const;
};

struct CallLedger {
  // Tags may be used once each; beyond that many pairs only the number of calls is kept.
  static constexpr std::size_t kMaxPairs = 4096;
  static constexpr std::size_t kMaxSites = std::size_t{1} << 16;

  std::vector<GroupLedger> groups;
  std::vector<PairLedger> pairs;
  std::uint64_t beyond_pairs = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> sites;  // line of the script → calls

  const GroupLedger* group(std::uint64_t id) const;
  const PairLedger* pair(std::uint64_t group, std::int32_t peer, std::int32_t tag, bool sends) const;
};

// Keeps a ledger while a trace is read: every frame in order, and every joined collective.
class LedgerKeeper {
 public:
  void add(const FrameView& frame);
  void settle(const Collective& call);
  CallLedger finish() { return std::move(ledger_); }

 private:
  GroupLedger& group(std::uint64_t id);
  PairLedger* pair(const CollectiveBatch& batch, std::size_t row);
  void add_call(const CollectiveBatch& batch, std::size_t row);

  CallLedger ledger_;
  std::unordered_map<std::uint64_t, std::size_t> group_index_;
  std::size_t last_group_ = 0;
  std::map<std::tuple<std::uint64_t, std::int32_t, std::int32_t, bool>, std::size_t> pair_index_;
  std::uint64_t last_site_ = 0;
  std::uint64_t* last_site_calls_ = nullptr;
};

}  // namespace plumbline::reader
