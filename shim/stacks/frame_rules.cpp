#include "shim/stacks/frame_rules.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "shim/stacks/byte_cursor.hpp"
#include "shim/stacks/expression.hpp"

namespace plumbline::shim::stacks {
namespace {

using Bytes = std::span<const std::uint8_t>;

struct Rule {
  enum Kind : std::uint8_t { kSame, kUndefined, kAtOffset, kIsOffset, kInRegister, kAtExpression, kIsExpression };
  Kind kind = kSame;
  std::int64_t offset = 0;  // or the number of a register
  Bytes expression;
};

// What holds at one place of the function: how to find the caller's stack pointer (the frame's canonical address), and
// from it the caller's registers.
struct State {
  std::uint64_t base_register = 0;
  std::int64_t base_offset = 0;
  Bytes base_expression;
  std::array<Rule, kRegisterCount> rules{};
};

class Program {
 public:
  Program(const FrameEntry& entry, Address pc) noexcept : entry_(entry), pc_(pc), at_(entry.begin) {}

  // False: an operation that is not known.
  bool run() noexcept {
    if (!run(entry_.common_program)) return false;
    initial_ = state_;
    return run(entry_.program);
  }
  const State& state() const noexcept { return state_; }

 private:
  bool run(Bytes program) noexcept {
    ByteCursor cursor(program, 0);
    while (cursor.more() && at_ <= pc_)
      if (!step(cursor)) return false;
    return cursor.good();
  }

  void advance(std::uint64_t units) noexcept { at_ += units * entry_.code_factor; }
  void set(std::uint64_t number, Rule rule) noexcept {
    if (number < kRegisterCount) state_.rules[number] = rule;
  }
  void restore(std::uint64_t number) noexcept {
    if (number < kRegisterCount) state_.rules[number] = initial_.rules[number];
  }
  std::int64_t factored(std::int64_t offset) const noexcept { return offset * entry_.data_factor; }
  void set_base(std::uint64_t number, std::int64_t offset) noexcept {
    state_.base_register = number;
    state_.base_offset = offset;
    state_.base_expression = {};
  }

  bool step(ByteCursor& cursor) noexcept {
    const auto operation = cursor.take<std::uint8_t>();
    const std::uint8_t low = operation & 0x3f;
    switch (operation >> 6) {
      case 1:
        advance(low);
        return true;
      case 2:
        set(low, {Rule::kAtOffset, factored(static_cast<std::int64_t>(cursor.unsigned_leb())), {}});
        return true;
      case 3:
        restore(low);
        return true;
      default:
        return extended(low, cursor);
    }
  }

  bool extended(std::uint8_t operation, ByteCursor& cursor) noexcept {
    switch (operation) {
      case 0x00:  // nop
        return true;
      case 0x02:
        advance(cursor.take<std::uint8_t>());
        return true;
      case 0x03:
        advance(cursor.take<std::uint16_t>());
        return true;
      case 0x04:
        advance(cursor.take<std::uint32_t>());
        return true;
      case 0x06:
        restore(cursor.unsigned_leb());
        return true;
      case 0x0a:
        remembered_.push_back(state_);
        return remembered_.size() < 64;
      case 0x0b:
        if (remembered_.empty()) return false;
        state_ = remembered_.back();
        remembered_.pop_back();
        return true;
      case 0x0c: {
        const std::uint64_t number = cursor.unsigned_leb();
        set_base(number, static_cast<std::int64_t>(cursor.unsigned_leb()));
        return true;
      }
      case 0x12: {
        const std::uint64_t number = cursor.unsigned_leb();
        set_base(number, factored(cursor.signed_leb()));
        return true;
      }
      case 0x0d:
        set_base(cursor.unsigned_leb(), state_.base_offset);
        return true;
      case 0x0e:
        state_.base_offset = static_cast<std::int64_t>(cursor.unsigned_leb());
        return true;
      case 0x13:
        state_.base_offset = factored(cursor.signed_leb());
        return true;
      case 0x0f:
        state_.base_expression = cursor.part(cursor.unsigned_leb());
        return true;
      case 0x2e:  // size of the arguments that were pushed
        cursor.unsigned_leb();
        return true;
      default:
        return rule(operation, cursor);
    }
  }

  bool rule(std::uint8_t operation, ByteCursor& cursor) noexcept {
    const std::uint64_t number = cursor.unsigned_leb();
    switch (operation) {
      case 0x05:
        set(number, {Rule::kAtOffset, factored(static_cast<std::int64_t>(cursor.unsigned_leb())), {}});
        return true;
      case 0x11:
        set(number, {Rule::kAtOffset, factored(cursor.signed_leb()), {}});
        return true;
      case 0x07:
        set(number, {Rule::kUndefined, 0, {}});
        return true;
      case 0x08:
        set(number, {Rule::kSame, 0, {}});
        return true;
      case 0x09:
        set(number, {Rule::kInRegister, static_cast<std::int64_t>(cursor.unsigned_leb()), {}});
        return true;
      case 0x14:
        set(number, {Rule::kIsOffset, factored(static_cast<std::int64_t>(cursor.unsigned_leb())), {}});
        return true;
      case 0x15:
        set(number, {Rule::kIsOffset, factored(cursor.signed_leb()), {}});
        return true;
      case 0x10:
        set(number, {Rule::kAtExpression, 0, cursor.part(cursor.unsigned_leb())});
        return true;
      case 0x16:
        set(number, {Rule::kIsExpression, 0, cursor.part(cursor.unsigned_leb())});
        return true;
      default:
        return false;
    }
  }

  const FrameEntry& entry_;
  Address pc_;
  Address at_;
  State state_;
  State initial_;
  std::vector<State> remembered_;
};

std::optional<Address> base_of(const State& state, const Registers& registers, const StackMemory& memory) noexcept {
  if (!state.base_expression.empty()) return evaluate(state.base_expression, registers, memory, std::nullopt);
  if (!registers.has(state.base_register)) return std::nullopt;
  return registers.get(state.base_register) + static_cast<Address>(state.base_offset);
}

std::optional<std::uint64_t> stored_at(std::optional<Address> place, const StackMemory& memory) noexcept {
  std::uint64_t value = 0;
  return place && memory.get(*place, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> value_by(const Rule& rule, std::size_t number, Address base, const Registers& registers,
                                      const StackMemory& memory) noexcept {
  const auto register_value = [&](std::size_t n) {
    return registers.has(n) ? std::optional(registers.get(n)) : std::nullopt;
  };
  switch (rule.kind) {
    case Rule::kSame:
      return register_value(number);
    case Rule::kUndefined:
      return std::nullopt;
    case Rule::kAtOffset:
      return stored_at(base + static_cast<Address>(rule.offset), memory);
    case Rule::kIsOffset:
      return base + static_cast<Address>(rule.offset);
    case Rule::kInRegister:
      return register_value(static_cast<std::size_t>(rule.offset));
    case Rule::kAtExpression:
      return stored_at(evaluate(rule.expression, registers, memory, base), memory);
    case Rule::kIsExpression:
      return evaluate(rule.expression, registers, memory, base);
  }
  return std::nullopt;
}

}  // namespace

Step to_caller(const FrameEntry& entry, Address pc, Registers& registers, const StackMemory& memory) noexcept {
  Program program(entry, pc);
  const std::size_t back = entry.return_register;
  if (!program.run() || back >= kRegisterCount) return Step::kLost;
  const State& state = program.state();
  if (state.rules[back].kind == Rule::kUndefined) return Step::kOutermost;
  const auto base = base_of(state, registers, memory);
  if (!base || state.rules[back].kind == Rule::kSame) return Step::kLost;
  Registers caller;
  for (std::size_t number = 0; number < kRegisterCount; ++number) {
    const auto value = value_by(state.rules[number], number, *base, registers, memory);
    if (value) caller.set(number, *value);
  }
  if (!caller.has(back)) return Step::kLost;
  caller.set(kProgramCounter, caller.get(back));
  if (state.rules[kStackPointer].kind == Rule::kSame) caller.set(kStackPointer, *base);
  registers = caller;
  return Step::kCaller;
}

}  // namespace plumbline::shim::stacks
