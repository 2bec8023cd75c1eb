// `import`: other programs' files become a run directory. `diagnose` does the same with the files that it is given.
//
//   if (const auto run = import_to(files, directory, err)) …   // a run directory that Run::open() takes
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "reader/import/import.hpp"

namespace plumbline::tools {

// Do all these paths look like a run or a trace of Plumbline's own, so that nothing has to be imported?
bool are_native(const std::vector<std::string>& paths);

// Makes the run directory; what could not be used is told on `err`, a sentence a file. Nothing when no file could.
std::optional<reader::imports::ImportReport> import_to(const std::vector<std::string>& paths,
                                                       const std::string& directory, std::ostream& err);

// The command. Returns the exit status.
int run_import(const std::vector<std::string>& paths, const std::string& directory, std::ostream& out,
               std::ostream& err);

}  // namespace plumbline::tools
