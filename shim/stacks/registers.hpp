// The registers that unwinding follows, numbered as DWARF numbers them on x86-64.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace plumbline::shim::stacks {

inline constexpr std::size_t kRegisterCount = 17;
inline constexpr std::size_t kStackPointer = 7;
inline constexpr std::size_t kProgramCounter = 16;  // DWARF's return address column

// Of a thread that was looked at from outside, only some are known.
class Registers {
 public:
  bool has(std::size_t number) const noexcept { return number < kRegisterCount && (known_ >> number & 1) != 0; }
  std::uint64_t get(std::size_t number) const noexcept { return values_[number]; }
  void set(std::size_t number, std::uint64_t value) noexcept {
    values_[number] = value;
    known_ |= 1u << number;
  }
  void forget(std::size_t number) noexcept { known_ &= ~(1u << number); }

  std::uint64_t pc() const noexcept { return values_[kProgramCounter]; }
  std::uint64_t sp() const noexcept { return values_[kStackPointer]; }

 private:
  std::array<std::uint64_t, kRegisterCount> values_{};
  std::uint32_t known_ = 0;
};

// All that a signal handler is told of the thread that it interrupted.
inline Registers from_context(const ucontext_t& context) noexcept {
  constexpr int kByNumber[kRegisterCount] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                             REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  Registers registers;
  for (std::size_t number = 0; number < kRegisterCount; ++number)
    registers.set(number, static_cast<std::uint64_t>(context.uc_mcontext.gregs[kByNumber[number]]));
  return registers;
}

}  // namespace plumbline::shim::stacks
