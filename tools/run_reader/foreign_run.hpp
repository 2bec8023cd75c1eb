// Files of other programs that a command was given in place of a run: imported into a directory that is gone again when
// the command is done.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace plumbline::tools {

// Have these to be imported first? A single path that is or holds a trace of ours has not; nor has one that is not
// there, or a directory of runs, which is better told as that.
bool need_import(const std::vector<std::string>& paths);

class ForeignRun {
 public:
  // What could not be used is told on `err`. Nothing when nothing could.
  static std::optional<ForeignRun> import(const std::vector<std::string>& paths, std::ostream& err);
  ForeignRun(ForeignRun&& other) noexcept;
  ForeignRun& operator=(ForeignRun&& other) noexcept;
  ~ForeignRun();

  const std::string& directory() const { return directory_; }  // called as what was given, for reports show its name
  bool data_lost() const { return data_lost_; }

 private:
  ForeignRun(std::string scratch, const std::string& given);

  std::string scratch_;
  std::string directory_;
  bool data_lost_ = false;
};

}  // namespace plumbline::tools
