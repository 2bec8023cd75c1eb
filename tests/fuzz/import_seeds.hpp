// Small whole files of every kind that is imported, for corruption and as a first corpus.
#pragma once

#include <string>
#include <vector>

namespace plumbline::fuzz {

struct ImportSeed {
  std::string name;  // a file name that says the rank
  std::string contents;
};

std::vector<ImportSeed> import_seeds();

}  // namespace plumbline::fuzz
