#include "tools/run_reader/remedy.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "reader/import/byte_source.hpp"
#include "reader/import/file_kind.hpp"
#include "reader/run_files.hpp"
#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

namespace fs = std::filesystem;
namespace imports = reader::imports;

std::string give_a_run(const std::string& path) {
  std::string text = " Give a run directory (plumbline-run-..) or a trace file (.plt)";
  const std::string parent = fs::path(path).parent_path().string();
  const std::vector<std::string> runs = reader::runs_below(parent.empty() ? "." : parent);
  return text + (runs.empty() ? "." : ", such as " + fs::path(runs.back()).lexically_normal().string() + ".");
}

bool is_regular_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Of a file that is there and no trace.
std::string looks_like(const std::string& path) {
  const reader::Result<std::string> beginning = imports::read_beginning(path, imports::kBeginning);
  if (!beginning.ok()) return give_a_run(path);
  const imports::RecognisedFile file = imports::recognise(*beginning);
  if (file.kind == imports::FileKind::kForeign) return " It looks like " + file.looks_like + "." + give_a_run(path);
  return " It is " + std::string(imports::name_of(file.kind)) +
         ": run-reader diagnose and report read such files, and import makes a run of them.";
}

}  // namespace

std::string why_no_run(const std::string& path, const reader::Status& status) {
  std::string text = status.message();
  if (status.code() == reader::Code::kForeign && is_regular_file(path)) {
    text += looks_like(path);
  } else if (status.code() == reader::Code::kNotFound || status.code() == reader::Code::kForeign) {
    text += give_a_run(path);
  } else if (status.code() == reader::Code::kEmpty && text.ends_with("holds no trace.")) {
    text += give_a_run(path.ends_with('/') ? path.substr(0, path.size() - 1) : path);
  }
  return printable(text);
}

}  // namespace plumbline::tools
