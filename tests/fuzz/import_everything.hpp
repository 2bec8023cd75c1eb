// The one entry that the fuzzer and the corruption driver of the importers share: a file goes in, a run comes out.
#pragma once

#include <string>

namespace plumbline::fuzz {

struct ImportOutcome {
  bool imported = false;
  std::string sentence;  // why not, when not; of an import with problems the first of them
};

// Imports `path` into a directory beside it, reads the run, and removes it.
ImportOutcome import_everything(const std::string& path);

}  // namespace plumbline::fuzz
