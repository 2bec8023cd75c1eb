// The files of a recording process in the run directory: the trace and the ring beside it.
//
//   RunFiles files;
//   if (auto error = files.create(directory, identity)) return log().line(*error);
//   …                                   // .pending-<host>-<pid>.plt and .ring
//   files.promote(identity);            // rank3-a0-<host>-<pid>.plt and .ring
//
// Names are for people and are never parsed. A file is never overwritten: a name that is taken gets the suffix .1, .2 …
// promote(), trace_fd() and ring_fd() may run beside each other and beside replace_trace(); everything else is for one
// thread at a time.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "recorder/file_io.hpp"
#include "recorder/identity.hpp"
#include "recorder/settings.hpp"

namespace plumbline::recorder {

// The directory of this launch, absolute, so that a job may change its working directory.
std::string run_directory(const Settings& settings);

// Rank, restart count, host and pid in a file name.
std::string trace_stem(const Identity& identity);

class RunFiles {
 public:
  // Makes the directory and the two files. A sentence when that fails; nothing is left behind then.
  std::optional<std::string> create(const std::string& directory, const Identity& identity);

  // Gives the files their lasting name. False, with the old names kept, when the directory refuses.
  bool promote(const Identity& identity);

  // Renames `new_path` over the trace and takes its descriptor over.
  bool replace_trace(const std::string& new_path, OwnFile& file);

  void remove_ring();
  // Deletes both files, and the directory when nothing else is in it.
  void discard();
  void close();

  // Why nothing more may be written: somebody has deleted the trace.
  std::optional<std::string> lost();

  // Good at this moment: to be asked for before each use, see OwnFile.
  int trace_fd();
  int ring_fd();
  const std::string& directory() const { return directory_; }
  std::string trace_path() const;
  std::string trace_name() const;  // file name alone
  std::string ring_name() const;

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

  mutable std::mutex names_;
  std::string directory_;
  std::string stem_;
  OwnFile trace_;
  OwnFile ring_;
};

}  // namespace plumbline::recorder
