// Recording from inside a job: what hooks call. One recorder a process, started by the first hook that fires.
//
//   if (recorder::active()) {
//     recorder::AllocRecord r{{recorder::now_ns(), recorder::Kind::kAlloc, 1, 0, tag}, address, size};
//     recorder::push(r.header);
//   }
//
// Life of a process: idle → pending → recording → stopped. In `pending` events already go to a ring and a trace under a
// hidden name (.pending-…); promote() gives them their name once the process has shown that it trains (a collective, an
// optimizer step, a process group); a process that ends without having trained deletes them. So launchers, data-loader
// workers and compile workers leave nothing behind, and a training process loses nothing of its start.
//
// push() is wait-free, does no system call, takes no lock and allocates nothing, except for the first event of a
// thread, which claims a ring. All functions are noexcept and safe from any thread; none may be called from a signal
// handler except now_ns().
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recorder/event.hpp"
#include "recorder/settings.hpp"

namespace plumbline::recorder {

// CLOCK_MONOTONIC nanoseconds.
std::uint64_t now_ns() noexcept;

// True from start() on until stop(), a fatal recording failure (disk full …), or level `off` through the control file.
bool active() noexcept;

// The level in force, as set at the start or since through the control file; kOff when nothing is recorded.
Level level() noexcept;

// Creates the run directory, ring and hidden trace, and starts the writer thread. False, with one line in the log, when
// nothing can be recorded here; the process is then left alone for good. Idempotent.
bool start(const Settings& settings) noexcept;

// The process trains: its trace gets its name. Idempotent, cheap when done. `why` is kept as a fact. Where nothing can
// be recorded, or no more, the log tells now why.
void promote(std::string_view why) noexcept;
bool promoted() noexcept;  // nothing is left to do for promote()

// Copies one record (header.slots slots, contiguous) into the calling thread's ring. False: dropped and counted.
bool push(const RecordHeader& record) noexcept;

// Marks a hooked call as being inside the real function, and clears the mark; see InFlight. Both are called from the
// hook's own frame, or are given its address. A mark is stale when the call has raised, which shows as follows: of an
// allocation (kAllocFailed), by any later event of the thread; of a call (kCollective, kWait), inside of which other
// events are normal, by a later push or mark from a frame that is not nested in the marked one, or at the end of the
// process. The recorder then pushes the matching event itself (kAllocFailed, kCollectiveEnd or kWaitEnd with
// Outcome::kRaised). Two calls and an allocation may be in flight on a thread; deeper ones are not marked. A time of 0
// spares an allocation the reading of the clock: its failure then bears the time at which it was noticed.
void set_in_flight(Kind what, std::uint32_t tag, std::uint64_t time_ns, std::uint64_t id_or_size,
                   const void* frame = __builtin_frame_address(0)) noexcept;
// True when the mark was still there: false says that the recorder has taken the call for one that raised.
bool clear_in_flight(const void* frame = __builtin_frame_address(0)) noexcept;

// Size of the calling thread's allocation that is inside the real function, where it is now failing; 0 none. Each one
// is told of once.
std::uint64_t failing_allocation() noexcept;

// A stable id (64-bit hash) of a text; records the text the first time that this process sees it while active, so an id
// that is kept must have been asked for while active.
std::uint64_t text_id(std::string_view text) noexcept;

// Process facts (versions, environment, how it ended …): rare.
void fact(std::string_view key, std::string_view value) noexcept;

// Process-wide unique numbers from 1, for collective ids and range or step handles.
std::uint64_t next_id() noexcept;

// Defines a process group or communicator under the returned id (hash of name and ranks). Call it at first sight.
std::uint64_t define_group(std::string_view name, std::string_view description, std::string_view backend,
                           std::string_view ranks, std::int32_t rank, std::int32_t size,
                           std::uint64_t pointer) noexcept;

// Hook bookkeeping: numbers are those of shim/hook_list.hpp.
void hook_fired(unsigned hook) noexcept;
void hook_state(unsigned hook, std::string_view name, bool active, std::string_view detail) noexcept;

// Drains everything, writes Exit and the index, ends the writer. Called from the exit handler. signal 0: none.
void stop(int status, int signal) noexcept;

// Process exit details that arrive before stop(): class and message of an uncaught Python exception.
void set_exception(std::string_view type, std::string_view message) noexcept;

// fork(): prepare takes the writer's lock, parent releases it, child forgets the mapping and goes back to idle (its
// own start() may follow if it turns out to train).
void fork_prepare() noexcept;
void fork_parent() noexcept;
void fork_child() noexcept;

}  // namespace plumbline::recorder
