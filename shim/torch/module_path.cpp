#include "shim/torch/module_path.hpp"

#include <utility>
#include <vector>

namespace plumbline::shim::adapter {
namespace {

std::vector<std::string>& open_modules() noexcept {
  thread_local std::vector<std::string> modules;
  return modules;
}

}  // namespace

void enter_module(std::string path) { open_modules().push_back(std::move(path)); }

void leave_module() noexcept {
  if (!open_modules().empty()) open_modules().pop_back();
}

void forget_modules() noexcept { open_modules().clear(); }

const std::string& current_module() noexcept {
  static const std::string none;
  return open_modules().empty() ? none : open_modules().back();
}

}  // namespace plumbline::shim::adapter
