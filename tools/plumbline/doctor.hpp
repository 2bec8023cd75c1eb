// `plumbline doctor`: what can be recorded here, what a process records, what a run did record, and why the rest is
// not.
#pragma once

#include <optional>
#include <string>

#include "tools/plumbline/findings.hpp"

namespace plumbline::tools {

// What the lack of a torch adapter costs.
inline constexpr const char* kWithoutAdapter =
    "without it optimizer steps and the arguments of collectives are not recorded, and a job without collectives "
    "leaves "
    "no trace at all";

// Is the preload object usable on this machine, with this Python (empty: the one in PATH)?
Findings examine_machine(const std::string& python);

// Does this process record? Nothing when there is no such process.
std::optional<Findings> examine_process(int pid);

// What did the processes of a run record? Nothing when no trace of it can be read; `why` then says so.
std::optional<Findings> examine_run(const std::string& path, std::string& why);

// `target`: empty for the machine, a process number, or a run. Exit status: 0 fine, 1 findings, 2 usage.
int doctor(const std::string& target, const std::string& python);

}  // namespace plumbline::tools
