// A Kineto trace as a process: its named ranges and optimizer steps, its collectives with the time that their kernels
// took, and every change of allocated memory.
//
// A profile starts in the middle of a job: calls are numbered from its start, so that two ranks' numbers agree only
// when both were profiled from the same step on.
#pragma once

#include "reader/import/byte_source.hpp"
#include "reader/import/imported_process.hpp"

namespace plumbline::reader::imports {

struct KinetoImport {
  ImportedProcess process;
  std::uint64_t events = 0;  // in the file, of every kind
  Status status;             // not ok: the file goes on where it could not be read
};

// `rank`: from the file's name, for when the file itself has none.
KinetoImport import_kineto(ByteSource& source, int rank);

}  // namespace plumbline::reader::imports
