#include "tools/plumbline/probe_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tools/run_reader/text.hpp"

namespace plumbline::tools {
namespace {

using nlohmann::json;

std::string text_of(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

double number_of(const json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : 0;
}

// Reads one rank's lines.
class RankFile {
 public:
  RankFile(int rank, ProbeResults& results) : rank_(rank), results_(results) {}

  void take(const json& line) {
    if (line.contains("world")) {
      results_.world = std::max(results_.world, static_cast<int>(number_of(line, "world")));
      results_.backend = text_of(line, "backend");
      results_.torch = text_of(line, "torch");
    } else if (line.contains("begin")) {
      inside_ = text_of(line, "begin");
      ++results_.calls;
    } else if (line.contains("skip")) {
      add_once(fmt::format("{} ({})", text_of(line, "skip"), text_of(line, "why")));
    } else if (line.contains("raised")) {
      results_.failures.push_back(
          fmt::format("rank {}: {} failed: {}", rank_, text_of(line, "raised"), text_of(line, "why")));
      told_ = true;
    } else if (line.contains("fail")) {
      results_.failures.push_back(fmt::format("rank {}: {}: element {} is {}, not {} ({} of {} differ)", rank_,
                                              text_of(line, "fail"), number_of(line, "element"),
                                              number_of(line, "found"), number_of(line, "wanted"),
                                              number_of(line, "differ"), number_of(line, "elements")));
    }
    ended_ = ended_ || line.contains("end");
  }

  void finish() {
    if (ended_ || told_) return;
    results_.unfinished.push_back(inside_.empty() ? fmt::format("rank {} ended before its first call", rank_)
                                                  : fmt::format("rank {} did not come out of {}", rank_, inside_));
  }

 private:
  void add_once(std::string sentence) {
    auto& all = results_.skipped;
    if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(std::move(sentence));
  }

  int rank_;
  ProbeResults& results_;
  std::string inside_;
  bool ended_ = false;
  bool told_ = false;
};

std::map<int, std::filesystem::path> files_in(const std::string& directory) {
  constexpr std::string_view kPrefix = "rank-";
  std::map<int, std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".jsonl" || !name.starts_with(kPrefix)) continue;
    files[std::atoi(name.c_str() + kPrefix.size())] = entry.path();
  }
  return files;
}

}  // namespace

ProbeResults read_probe_results(const std::string& directory) {
  ProbeResults results;
  const auto files = files_in(directory);
  for (const auto& [rank, path] : files) {
    RankFile file(rank, results);
    std::ifstream lines(path);
    for (std::string text; std::getline(lines, text);) {
      const json line = json::parse(text, nullptr, false);
      if (!line.is_object()) break;
      file.take(line);
    }
    file.finish();
  }
  for (int rank = 0; rank < results.world; ++rank) {
    if (files.count(rank) == 0) results.unfinished.push_back(fmt::format("rank {} left no result", rank));
  }
  return results;
}

}  // namespace plumbline::tools
