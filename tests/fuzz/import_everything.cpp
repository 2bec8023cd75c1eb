#include "tests/fuzz/import_everything.hpp"

#include <filesystem>
#include <system_error>

#include "reader/import/import.hpp"
#include "tests/fuzz/read_everything.hpp"

namespace plumbline::fuzz {

ImportOutcome import_everything(const std::string& path) {
  const std::string run = path + ".run";
  std::error_code error;
  std::filesystem::remove_all(run, error);
  ImportOutcome outcome;
  const auto report = reader::imports::import_files({path}, run, {.threads = 1});
  outcome.imported = report.ok();
  if (!report.ok())
    outcome.sentence = report.status().message();
  else if (!report->problems.empty())
    outcome.sentence = report->problems.front();
  if (report.ok() && !read_everything(run).opened) outcome = {false, "an imported run cannot be read"};
  std::filesystem::remove_all(run, error);
  return outcome;
}

}  // namespace plumbline::fuzz
