// A stretch of one rank's calls in a group, read again from its trace, and what two such stretches differ in.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "reader/call_ledger.hpp"
#include "reader/call_terms.hpp"
#include "reader/collectives.hpp"
#include "reader/trace.hpp"

namespace plumbline::checks {

using CallSequence = std::map<std::uint64_t, reader::Collective>;  // by number; without marks

// The outermost collectives of a block of numbers.
CallSequence read_block(const reader::Trace& trace, std::uint64_t group, const reader::CallSeries& series,
                        std::uint64_t block);
// The same of the messages of a pair.
CallSequence read_block(const reader::Trace& trace, const reader::PairLedger& pair, std::uint64_t block);
// A call with its marks.
reader::Collective with_marks(const reader::Trace& trace, const reader::Collective& call);

enum class Difference : std::uint8_t { kNone, kOp, kReduceOp, kDtype, kRoot, kSize, kLine };
std::string_view name_of(Difference difference);  // "operation", "reduction" …

// What two ranks' calls of one number differ in, where that is not legal.
Difference difference_of(const reader::Collective& a, const reader::Collective& b);

// How a rank came to be out of step, as far as the calls after the first difference show it.
enum class Slip : std::uint8_t {
  kPlain,    // they differ, and that is all
  kSwapped,  // it made two calls in the other order
  kSkipped,  // it left out a call that the others made
  kExtra,    // it made a call that the others did not make
};
// Does this rank's call of that number follow the one before it as it did earlier? Tells which of two ranks left the
// usual path, when there is no majority.
enum class Habit : std::uint8_t { kUnknown, kKept, kBroken };
Habit habit_of(const CallSequence& calls, std::uint64_t number);

Slip slip_of(const CallSequence& others, const CallSequence& own, std::uint64_t number);

}  // namespace plumbline::checks
