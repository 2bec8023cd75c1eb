// The processes that a text tells of, found by rank or by process id as its lines name them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "reader/import/imported_process.hpp"

namespace plumbline::reader::imports {

class LogProcesses {
 public:
  // `rank`: whose text it is as a whole, when the file's name says so; -1: not known.
  explicit LogProcesses(int rank) : file_rank_(rank) {}

  // The process of a global rank; -1 gives that of the whole file.
  ImportedProcess& of_rank(int rank);
  ImportedProcess& of_pid(std::uint32_t pid);
  // What a line gives both of.
  ImportedProcess& of(int rank, std::uint32_t pid);

  // Every process with the format's name; those that two lines have named in different ways become one.
  std::vector<ImportedProcess> finish();
  // What was found, for the report: counted by kind ("stack", "exit" …).
  void count(const std::string& what) { ++counts_[what]; }
  const std::map<std::string, std::size_t>& counts() const { return counts_; }

  // A log may repeat itself without end; of one process no more than this of a kind is kept.
  static constexpr std::size_t kMostRows = 100'000;

 private:
  int file_rank_;
  std::deque<ImportedProcess> processes_;  // a reference stays good while others are added
  std::map<int, std::size_t> by_rank_;
  std::map<std::uint32_t, std::size_t> by_pid_;
  std::map<std::string, std::size_t> counts_;
};

}  // namespace plumbline::reader::imports
