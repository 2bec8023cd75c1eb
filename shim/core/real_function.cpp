#include "shim/core/real_function.hpp"

#include "shim/core/hook_report.hpp"
#include "shim/core/library_symbol.hpp"
#include "shim/core/log.hpp"

namespace plumbline::shim {

void* find_real_function(const RealFunctionName& name, const void* caller) noexcept {
  void* address = symbol_in_library(name.owner, name.symbol);
  if (address == nullptr) address = symbol_in_library_of(caller, name.symbol);
  if (address == nullptr) {
    log_line("hook '%s' is off: %s is not defined by %s", hook_name(name.hook), name.symbol, name.owner);
    report_hook_off(name.hook, "the real function was not found");
  }
  return address;
}

}  // namespace plumbline::shim
