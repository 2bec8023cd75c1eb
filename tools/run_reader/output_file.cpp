#include "tools/run_reader/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "reader/import/byte_source.hpp"
#include "reader/import/file_kind.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;
namespace imports = reader::imports;

// A part of some run, or another program's dump: nothing of it can be made again.
bool is_evidence(const fs::path& path) {
  for (const std::string_view ending : {".plt", ".ring", ".plc"}) {
    if (path.extension() == ending) return true;
  }
  const reader::Result<std::string> beginning = imports::read_beginning(path.string(), imports::kBeginning);
  if (!beginning.ok()) return false;
  const imports::FileKind kind = imports::recognise(*beginning).kind;
  return kind != imports::FileKind::kForeign && kind != imports::FileKind::kText;
}

bool is_input(const Context& context, const std::string& output) {
  std::error_code error;
  for (const reader::Trace& trace : context.run.traces()) {
    for (const std::string& path : {trace.path(), trace.ring_path()})
      if (!path.empty() && fs::equivalent(path, output, error)) return true;
  }
  return std::any_of(context.options.files.begin(), context.options.files.end(), [&](const std::string& given) {
    return fs::is_regular_file(given, error) && fs::equivalent(given, output, error);
  });
}

// The file that a chain of links leads to, so that it is replaced and not the link.
std::string target_of(const std::string& output) {
  std::error_code error;
  const fs::path target = fs::canonical(output, error);
  return error ? output : target.string();
}

bool replace_file(const std::string& target, const std::function<void(std::ostream&)>& write) {
  const std::string unfinished = target + ".part";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  if (file) write(file);
  file.close();
  if (file && std::rename(unfinished.c_str(), target.c_str()) == 0) return true;
  const int reason = errno;
  std::remove(unfinished.c_str());
  errno = reason;
  return false;
}

bool write_into(const std::string& target, const std::function<void(std::ostream&)>& write) {
  std::ofstream file(target, std::ios::binary);
  if (file) write(file);
  file.close();
  return !file.fail();
}

bool is_special(const std::string& target) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

bool write_output(const Context& context, const std::function<void(std::ostream&)>& write) {
  const std::string& output = context.options.output;
  if (output == "-") {
    write(context.out);
    return true;
  }
  if (!is_input(context, output)) return write_file(output, write, context.err);
  context.err << "run-reader: " << printable(output) << " is read by this command; name another file to write.\n";
  return false;
}

bool write_file(const std::string& output, const std::function<void(std::ostream&)>& write, std::ostream& err) {
  std::error_code error;
  if (fs::is_regular_file(output, error) && is_evidence(output)) {
    err << "run-reader: " << printable(output)
        << " is a recording or another program's dump; name another file to write.\n";
    return false;
  }
  const std::string target = target_of(output);
  errno = 0;
  if (is_special(target) ? write_into(target, write) : replace_file(target, write)) return true;
  err << "run-reader: " << printable(output) << " could not be written: " << std::strerror(errno == 0 ? EIO : errno)
      << "; name another file.\n";
  return false;
}

}  // namespace plumbline::tools
