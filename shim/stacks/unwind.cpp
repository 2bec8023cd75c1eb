#include "shim/stacks/unwind.hpp"

#include "shim/stacks/frame_rules.hpp"
#include "shim/stacks/frame_table.hpp"

namespace plumbline::shim::stacks {

Address Unwinder::frame_header_at(Address pc) noexcept {
  const MappedModule* const module = modules_.find(pc);
  if (module == nullptr || module->image == 0) return 0;
  const auto [entry, fresh] = frame_headers_.try_emplace(module->image, 0);
  if (fresh) entry->second = read_elf(module->image).frame_header;
  return entry->second;
}

NativeStack Unwinder::unwind(Registers registers, const StackMemory& memory) noexcept {
  constexpr std::size_t kMostFrames = 256;
  NativeStack stack;
  bool exact = true;  // the program counter is that of an instruction, not a return address behind a call
  while (stack.pcs.size() < kMostFrames) {
    const Address pc = exact ? registers.pc() : registers.pc() - 1;
    if (registers.pc() == 0 || modules_.find(pc) == nullptr) {
      stack.complete = registers.pc() == 0;
      break;
    }
    stack.pcs.push_back(pc);
    const Address header = frame_header_at(pc);
    const auto entry = header != 0 ? find_frame_entry(header, pc, memory) : std::nullopt;
    if (!entry) break;
    const Address sp = registers.sp();
    const Step step = to_caller(*entry, pc, registers, memory);
    stack.complete = step == Step::kOutermost;
    if (step != Step::kCaller) break;
    exact = entry->signal_frame;
    // A stack that does not shrink is damaged, or the thread has moved on.
    if (registers.sp() <= sp && !exact) break;
  }
  return stack;
}

}  // namespace plumbline::shim::stacks
