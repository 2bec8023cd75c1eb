#include "reader/import/py_spy_json.hpp"

#include <algorithm>

namespace plumbline::reader::imports {
namespace {

bool is_native(std::string_view file) { return !file.ends_with(".py") && file.find(".so") != std::string_view::npos; }

ImportedStack stack_of(const PlainData& data, Value thread) {
  ImportedStack stack;
  stack.tid = static_cast<std::uint32_t>(data.integer_or(data.member(thread, "os_thread_id"), 0));
  stack.thread_name = data.text(data.member(thread, "thread_name"));
  if (!data.truth(data.member(thread, "active"))) stack.flags |= recorder::kIdle;
  if (data.truth(data.member(thread, "owns_gil"))) stack.flags |= recorder::kHoldsInterpreterLock;
  if (stack.thread_name == "MainThread") stack.flags |= recorder::kTrainingThread;
  for (const Value frame : data.items(data.member(thread, "frames"))) {
    std::string_view file = data.text(data.member(frame, "filename"));
    if (file.empty()) file = data.text(data.member(frame, "module"));
    ImportedFrame row{std::string(data.text(data.member(frame, "name"))), std::string(file),
                      static_cast<std::uint32_t>(data.integer_or(data.member(frame, "line"), 0)), 0};
    (is_native(file) ? stack.native : stack.python).push_back(std::move(row));
  }
  return stack;
}

}  // namespace

std::vector<ImportedProcess> import_py_spy_json(const PlainData& data, int rank) {
  std::vector<ImportedProcess> processes;
  for (const Value thread : data.items(data.root())) {
    const auto pid = static_cast<std::uint32_t>(data.integer_or(data.member(thread, "pid"), 0));
    auto process =
        std::find_if(processes.begin(), processes.end(), [&](const ImportedProcess& one) { return one.pid == pid; });
    if (process == processes.end()) {
      process = processes.emplace(processes.end());
      process->pid = pid;
      process->formats = {"py-spy"};
      process->lacks = {"collectives", "allocations", "optimizer steps", "ranges", "exit"};
    }
    process->stacks.push_back(stack_of(data, thread));
  }
  if (processes.size() == 1) processes.front().rank = rank;
  return processes;
}

}  // namespace plumbline::reader::imports
