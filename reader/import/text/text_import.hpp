// Text: stacks, ncclras reports and logs, alone or mixed in one file. What a line is, each of the readers in this
// folder tells; a line that none of them knows is passed over.
#pragma once

#include <string>
#include <vector>

#include "reader/import/byte_source.hpp"
#include "reader/import/imported_process.hpp"

namespace plumbline::reader::imports {

struct TextImport {
  std::vector<ImportedProcess> processes;
  std::string what;       // "text with 2 stacks and 1 exit"; empty: nothing was recognised
  bool cut_line = false;  // a line was too long and was cut
};

// `rank`: whose text it is, from its name; -1 not known. `year`: of times without one.
TextImport import_text(ByteSource& source, int rank, int year);

}  // namespace plumbline::reader::imports
