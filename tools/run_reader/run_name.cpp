#include "tools/run_reader/run_name.hpp"

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {

std::string run_name(const Context& context) {
  const std::vector<std::string>& files = context.options.files;
  // Files that had to be imported first are read from a directory of another name.
  if (files.empty() || context.options.run == files.front()) return context.run.path();
  if (files.size() == 1) return files[0];
  if (files.size() == 2) return files[0] + " and " + files[1];
  return files[0] + " and " + plural(files.size() - 1, "more file");
}

}  // namespace plumbline::tools
