// `py-spy dump --json`.
#pragma once

#include <vector>

#include "reader/import/imported_process.hpp"
#include "reader/import/plain_data.hpp"

namespace plumbline::reader::imports {

// Processes by their ids; `rank` is given to a process that is alone in the file.
std::vector<ImportedProcess> import_py_spy_json(const PlainData& data, int rank);

}  // namespace plumbline::reader::imports
