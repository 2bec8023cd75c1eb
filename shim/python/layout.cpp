#include "shim/python/layout.hpp"

#include <cstddef>
#include <limits>

namespace plumbline::shim::python {
namespace {

constexpr Layout kPython39 = {.lines = LineFormat::kPairs,
                              .instruction = Instruction::kByteOffset,
                              .through_cframe = false,
                              .owner = -1,
                              .thread_frame = 24,
                              .cframe_frame = 0,
                              .frame_back = 24,
                              .frame_code = 32,
                              .frame_instruction = 104,
                              .code_filename = 104,
                              .code_name = 112,
                              .code_lines = 120,
                              .code_first_line = 40,
                              .code_instructions = 0,
                              .text_ascii = 48,
                              .text_other = 72,
                              .thread_next = 8,
                              .thread_interpreter = 16,
                              .thread_native_id = 0,
                              .thread_id = 176,
                              .interpreter_threads = 8,
                              .lock_holder = 0,
                              .lock_locked = 0};

constexpr Layout python310() {
  Layout layout = kPython39;
  layout.lines = LineFormat::kRanges;
  layout.instruction = Instruction::kUnitOffset;
  layout.frame_instruction = 96;
  return layout;
}

constexpr Layout kPython311 = {.lines = LineFormat::kLocations,
                               .instruction = Instruction::kAddress,
                               .through_cframe = true,
                               .owner = 69,
                               .thread_frame = 56,
                               .cframe_frame = 8,
                               .frame_back = 48,
                               .frame_code = 32,
                               .frame_instruction = 56,
                               .code_filename = 112,
                               .code_name = 128,
                               .code_lines = 136,
                               .code_first_line = 72,
                               .code_instructions = 184,
                               .text_ascii = 48,
                               .text_other = 72,
                               .thread_next = 8,
                               .thread_interpreter = 16,
                               .thread_native_id = 160,
                               .thread_id = 152,
                               .interpreter_threads = 16,
                               .lock_holder = 0,
                               .lock_locked = 0};

constexpr Layout python312() {
  Layout layout = kPython311;
  layout.owner = 70;
  layout.cframe_frame = 0;
  layout.frame_back = 8;
  layout.frame_code = 0;
  layout.code_first_line = 68;
  layout.code_instructions = 192;
  layout.text_ascii = 40;
  layout.text_other = 56;
  layout.thread_native_id = 144;
  layout.thread_id = 136;
  layout.interpreter_threads = 72;
  layout.lock_holder = 1048;
  layout.lock_locked = 1056;
  return layout;
}

// Sections of the table grow from one version to the next, so they are found by what their fields must hold.
class Table {
 public:
  explicit Table(std::span<const std::uint64_t> words) noexcept : words_(words) {}

  std::uint64_t at(std::size_t i) const noexcept {
    return i < words_.size() ? words_[i] : std::numeric_limits<std::uint64_t>::max();
  }
  // size, prev, next, interp, current_frame, thread_id, native_thread_id, …
  std::size_t thread_section() const noexcept {
    for (std::size_t i = 6; i + 12 < words_.size(); ++i)
      if (at(i + 1) == 0 && at(i + 2) == 8 && at(i + 3) == 16 && at(i) > at(i + 4)) return i;
    return 0;
  }
  // size, filename, name, qualname, linetable, firstlineno, four fields, co_code_adaptive: four pointers in a row.
  std::size_t code_section(std::size_t from) const noexcept {
    for (std::size_t i = from; i + 9 < words_.size(); ++i)
      if (at(i + 2) == at(i + 1) + 8 && at(i + 3) == at(i + 2) + 8 && at(i + 4) == at(i + 3) + 8 && at(i) > at(i + 4))
        return i;
    return 0;
  }

 private:
  std::span<const std::uint64_t> words_;
};

constexpr std::uint64_t kCookie = 0x7970677562656478;  // "xdebugpy" read as little-endian

}  // namespace

std::optional<Layout> layout_of(int major, int minor) noexcept {
  if (major != 3) return std::nullopt;
  switch (minor) {
    case 9:
      return kPython39;
    case 10:
      return python310();
    case 11:
      return kPython311;
    case 12:
      return python312();
    default:
      return std::nullopt;
  }
}

std::optional<Layout> layout_from_table(std::span<const std::uint64_t> words) noexcept {
  constexpr std::size_t kVersion = 1, kFreeThreaded = 2, kInterpreterSection = 6, kThreadsHead = 3;
  constexpr std::size_t kThreadWords = 9;
  const Table table(words);
  if (table.at(0) != kCookie || table.at(kVersion) >> 24 != 3 || table.at(kFreeThreaded) != 0) return std::nullopt;
  const std::size_t thread = table.thread_section();
  const std::size_t frame = thread + kThreadWords;
  const std::size_t code = thread == 0 ? 0 : table.code_section(frame + 6);
  if (code == 0) return std::nullopt;
  bool fits = true;
  const auto offset = [&](std::size_t i) {
    fits = fits && table.at(i) < 1 << 15;
    return static_cast<std::uint16_t>(table.at(i));
  };
  Layout layout = python312();
  layout.through_cframe = false;
  layout.thread_next = offset(thread + 2);
  layout.thread_interpreter = offset(thread + 3);
  layout.thread_frame = offset(thread + 4);
  layout.thread_id = offset(thread + 5);
  layout.thread_native_id = offset(thread + 6);
  layout.frame_back = offset(frame + 1);
  layout.frame_code = offset(frame + 2);
  layout.frame_instruction = offset(frame + 3);
  layout.owner = static_cast<std::int16_t>(offset(frame + 5));
  layout.code_filename = offset(code + 1);
  layout.code_name = offset(code + 3);
  layout.code_lines = offset(code + 4);
  layout.code_first_line = offset(code + 5);
  layout.code_instructions = offset(code + 9);
  layout.interpreter_threads = offset(kInterpreterSection + kThreadsHead);
  // 3.14 has put the main thread between the threads and the rest.
  const std::size_t lock = kInterpreterSection + ((table.at(kVersion) >> 16 & 0xff) >= 14 ? 12 : 11);
  layout.lock_locked = offset(lock);
  layout.lock_holder = offset(lock + 1);
  return fits ? std::optional(layout) : std::nullopt;
}

}  // namespace plumbline::shim::python
