// Writes imported processes as traces into a run directory, with the recorder's own writer.
#pragma once

#include <string>

#include "reader/import/imported_process.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

// The earliest time that anything of the process carries; 0: none does.
std::uint64_t first_time(const ImportedProcess& process);

// `start_ns`: when the process is taken to have started, different for each process of a run and before all its events.
Status write_process(const ImportedProcess& process, const std::string& directory, std::uint64_t start_ns);

}  // namespace plumbline::reader::imports
