// Where CPython keeps what a walk of frames needs, as byte offsets into its objects.
//
// A thread's frames can be read without the interpreter lock, since only the thread itself changes them; no public
// function of CPython does that. The offsets are facts of each minor version. From 3.13 on the interpreter carries a
// table of its own offsets, and only where that table lies is assumed. A layout is used once it has been compared with
// the official functions in the running process, see shim/python/interpreter.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace plumbline::shim::python {

// How a code object maps its instructions to lines.
enum class LineFormat : std::uint8_t {
  kPairs,      // co_lnotab, up to 3.9: pairs of differences, address and line
  kRanges,     // co_linetable of 3.10: the same, but a line may be absent
  kLocations,  // co_linetable from 3.11 on: entries of varying length, with columns
};

// What a frame says of its current instruction.
enum class Instruction : std::uint8_t {
  kByteOffset,  // f_lasti up to 3.9
  kUnitOffset,  // f_lasti of 3.10: in units of two bytes
  kAddress,     // a pointer into the code object's instructions
};

struct Layout {
  LineFormat lines;
  Instruction instruction;
  bool through_cframe;         // the thread points to a struct that points to the frame (3.11 and 3.12)
  std::int16_t owner;          // in the frame: who owns it, -1 where there is no such field
  std::uint16_t thread_frame;  // in PyThreadState
  std::uint16_t cframe_frame;  // in that struct
  std::uint16_t frame_back;    // in the frame
  std::uint16_t frame_code;
  std::uint16_t frame_instruction;
  std::uint16_t code_filename;  // in the code object
  std::uint16_t code_name;      // the qualified name where there is one
  std::uint16_t code_lines;
  std::uint16_t code_first_line;
  std::uint16_t code_instructions;
  std::uint16_t text_ascii;   // characters of a str that is ASCII
  std::uint16_t text_other;   // characters of another str
  std::uint16_t thread_next;  // in PyThreadState
  std::uint16_t thread_interpreter;
  std::uint16_t thread_native_id;  // 0 where there is none (up to 3.10): thread_id is then the pthread_t
  std::uint16_t thread_id;
  std::uint16_t interpreter_threads;  // in PyInterpreterState: its newest thread
  std::uint16_t lock_holder;  // there too: who took the interpreter lock last; 0 where the lock is the process's
  std::uint16_t lock_locked;  // and whether it is taken, an int
};

// The same in all these versions, on 64-bit machines, with the interpreter lock compiled in.
inline constexpr std::uint16_t kObjectType = 8;
inline constexpr std::uint16_t kVarSize = 16;  // ob_size of bytes, length of a str
inline constexpr std::uint16_t kTextState = 32;
inline constexpr std::uint16_t kBytesData = 32;

// Whose a frame is, from 3.11 on: those of kFirstForeignOwner and above belong to the interpreter's own C code.
inline constexpr std::uint8_t kGenerator = 1;
inline constexpr std::uint8_t kFirstForeignOwner = 3;

// Of the versions without a table of their own: 3.9 to 3.12.
std::optional<Layout> layout_of(int major, int minor) noexcept;

// From the table at the start of _PyRuntime, 3.13 and later, as 64-bit words. Nothing for an interpreter without the
// lock, whose threads run copies of the instructions.
inline constexpr std::size_t kTableWords = 96;
std::optional<Layout> layout_from_table(std::span<const std::uint64_t> words) noexcept;

}  // namespace plumbline::shim::python
