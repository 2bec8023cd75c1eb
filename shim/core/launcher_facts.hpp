// What a trace says about the process that started its own: with it the launch can be repeated whole.
//
//   launcher.command, launcher.executable, launcher.directory
//   launcher.env.NAME   a reported variable that the launcher had with another value than this process
//   launcher.lacks      names, with commas, of those that this process has and the launcher had not
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline::shim {

// Says nothing when this process was not started by a launcher: it has no rank in its environment, and is no child of
// multiprocessing.
void report_launcher() noexcept;

// The facts about variables. `theirs`: each ended by a zero byte; `ours`: NAME=VALUE each.
std::vector<std::pair<std::string, std::string>> launcher_variables(std::string_view theirs,
                                                                    const std::vector<std::string_view>& ours);

}  // namespace plumbline::shim
