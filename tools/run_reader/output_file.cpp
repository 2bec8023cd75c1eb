#include "tools/run_reader/output_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace plumbline::tools {
namespace {

// An output that would replace one of the run's own files.
bool is_input(const Context& context) {
  std::error_code error;
  for (const reader::Trace& trace : context.run.traces()) {
    for (const std::string& path : {trace.path(), trace.ring_path()})
      if (!path.empty() && std::filesystem::equivalent(path, context.options.output, error)) return true;
  }
  return false;
}

}  // namespace

bool write_output(const Context& context, const std::function<void(std::ostream&)>& write) {
  const std::string& output = context.options.output;
  if (output == "-") {
    write(context.out);
    return true;
  }
  if (is_input(context)) {
    context.err << "run-reader: " << output << " is part of the run; name another file with -o.\n";
    return false;
  }
  const std::string unfinished = output + ".part";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (file) write(file);
  file.close();
  if (file && std::rename(unfinished.c_str(), output.c_str()) == 0) return true;
  const int reason = errno;
  std::remove(unfinished.c_str());
  context.err << "run-reader: " << output << " could not be written: " << std::strerror(reason) << '\n';
  return false;
}

}  // namespace plumbline::tools
