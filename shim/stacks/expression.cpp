#include "shim/stacks/expression.hpp"

#include <array>

#include "shim/stacks/byte_cursor.hpp"

namespace plumbline::shim::stacks {
namespace {

enum Operation : std::uint8_t {
  kDeref = 0x06,
  kConst1Unsigned = 0x08,
  kConst1Signed = 0x09,
  kConst2Unsigned = 0x0a,
  kConst2Signed = 0x0b,
  kConst4Unsigned = 0x0c,
  kConst4Signed = 0x0d,
  kConstUnsigned = 0x10,
  kConstSigned = 0x11,
  kDup = 0x12,
  kDrop = 0x13,
  kSwap = 0x16,
  kAnd = 0x1a,
  kMinus = 0x1c,
  kMultiply = 0x1e,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusConst = 0x23,
  kShiftLeft = 0x24,
  kShiftRight = 0x25,
  kGreaterOrEqual = 0x2a,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4f,
  kRegister0 = 0x70,
  kRegister31 = 0x8f,
};

// A value stack that takes a damaged expression without harm: too deep or too shallow ends it.
class Machine {
 public:
  bool good() const noexcept { return good_; }
  void push(std::uint64_t value) noexcept {
    if (depth_ == values_.size())
      good_ = false;
    else
      values_[depth_++] = value;
  }
  std::uint64_t pop() noexcept {
    if (depth_ == 0) {
      good_ = false;
      return 0;
    }
    return values_[--depth_];
  }
  void fail() noexcept { good_ = false; }

 private:
  std::array<std::uint64_t, 32> values_{};
  std::size_t depth_ = 0;
  bool good_ = true;
};

std::uint64_t combine(std::uint8_t operation, std::uint64_t a, std::uint64_t b) noexcept {
  switch (operation) {
    case kAnd:
      return a & b;
    case kMinus:
      return a - b;
    case kMultiply:
      return a * b;
    case kOr:
      return a | b;
    case kPlus:
      return a + b;
    case kShiftLeft:
      return b < 64 ? a << b : 0;
    case kShiftRight:
      return b < 64 ? a >> b : 0;
    default:
      return static_cast<std::int64_t>(a) >= static_cast<std::int64_t>(b) ? 1 : 0;
  }
}

std::uint64_t extended(std::int64_t value) noexcept { return static_cast<std::uint64_t>(value); }

void run(std::uint8_t operation, ByteCursor& cursor, Machine& machine, const StackMemory& memory) noexcept {
  switch (operation) {
    case kDeref: {
      std::uint64_t value = 0;
      if (!memory.get(machine.pop(), value)) machine.fail();
      return machine.push(value);
    }
    case kConst1Unsigned:
      return machine.push(cursor.take<std::uint8_t>());
    case kConst1Signed:
      return machine.push(extended(cursor.take<std::int8_t>()));
    case kConst2Unsigned:
      return machine.push(cursor.take<std::uint16_t>());
    case kConst2Signed:
      return machine.push(extended(cursor.take<std::int16_t>()));
    case kConst4Unsigned:
      return machine.push(cursor.take<std::uint32_t>());
    case kConst4Signed:
      return machine.push(extended(cursor.take<std::int32_t>()));
    case kConstUnsigned:
      return machine.push(cursor.unsigned_leb());
    case kConstSigned:
      return machine.push(extended(cursor.signed_leb()));
    case kDup: {
      const std::uint64_t value = machine.pop();
      machine.push(value);
      return machine.push(value);
    }
    case kDrop:
      machine.pop();
      return;
    case kSwap: {
      const std::uint64_t top = machine.pop();
      const std::uint64_t below = machine.pop();
      machine.push(top);
      return machine.push(below);
    }
    case kPlusConst:
      return machine.push(machine.pop() + cursor.unsigned_leb());
    case kAnd:
    case kMinus:
    case kMultiply:
    case kOr:
    case kPlus:
    case kShiftLeft:
    case kShiftRight:
    case kGreaterOrEqual: {
      const std::uint64_t b = machine.pop();
      const std::uint64_t a = machine.pop();
      return machine.push(combine(operation, a, b));
    }
    default:
      return machine.fail();
  }
}

}  // namespace

std::optional<std::uint64_t> evaluate(std::span<const std::uint8_t> expression, const Registers& registers,
                                      const StackMemory& memory, std::optional<std::uint64_t> initial) noexcept {
  ByteCursor cursor(expression, 0);
  Machine machine;
  if (initial) machine.push(*initial);
  while (cursor.more() && machine.good()) {
    const auto operation = cursor.take<std::uint8_t>();
    if (operation >= kLiteral0 && operation <= kLiteral31) {
      machine.push(operation - kLiteral0);
    } else if (operation >= kRegister0 && operation <= kRegister31) {
      const std::size_t number = operation - kRegister0;
      const std::int64_t offset = cursor.signed_leb();
      if (!registers.has(number)) return std::nullopt;
      machine.push(registers.get(number) + extended(offset));
    } else {
      run(operation, cursor, machine, memory);
    }
  }
  const std::uint64_t value = machine.pop();
  return machine.good() && cursor.good() ? std::optional(value) : std::nullopt;
}

}  // namespace plumbline::shim::stacks
