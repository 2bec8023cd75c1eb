// Which captures of a run belong together: those of one start of all ranks. A directory may hold several, whose steps
// have the same numbers.
//
//   const CaptureSets sets = CaptureSets::open(run);
//   for (const CaptureSet& set : sets.all) use(set.captures);
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reader/captures.hpp"
#include "reader/run.hpp"

namespace plumbline::reader {

struct CaptureSet {
  int launch = 0;
  int attempt = 0;
  // Above 0: of processes whose rank had captured before in that attempt, as of a program that replaced itself, or of a
  // helper that trains something of its own. Each process of which no rank is known is alone.
  int turn = 0;
  RunCaptures captures;
};

struct CaptureSets {
  static CaptureSets open(const Run& run);

  std::vector<CaptureSet> all;       // of launch, attempt and turn, in this order; none is empty
  std::vector<CaptureFile> unused;   // of processes of the run that captured nothing
  std::vector<std::string> foreign;  // a sentence for each file that belongs to no trace of the run
  std::vector<std::string> damaged;  // a sentence for each that cannot be read

  // Of the last attempt of the last launch, that of most ranks; the number of sets where there is none.
  std::size_t main() const;
};

// The trace of the process that a file of captures is of.
std::optional<std::size_t> trace_of(const Run& run, const ProcessInfo& captured);

}  // namespace plumbline::reader
