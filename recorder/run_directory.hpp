// The files of a recording process in the run directory: the trace and the ring beside it.
//
//   RunFiles files;
//   if (auto error = files.create(directory, identity)) return log().line(*error);
//   …                                   // .pending-<host>-<pid>.plt and .ring
//   files.promote(identity);            // rank3-a0-<host>-<pid>.plt and .ring
//
// Names are for people and are never parsed. A file is never overwritten: a name that is taken gets the suffix .1, .2 …
// promote() may run beside replace_trace(); everything else is for one thread at a time.
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

  // Renames `new_path` over the trace.
  bool replace_trace(const std::string& new_path);

  void remove_ring();
  // Deletes both files, and the directory when nothing else is in it.
  void discard();
  // Closes the descriptors, but for one that the job has closed before.
  void close();

  // Why nothing more may be written: somebody has deleted the trace, or the job has closed its descriptor, whose number
  // may by now be a file of the job's.
  std::optional<std::string> lost() const;

  int trace_fd() const { return trace_fd_; }
  int ring_fd() const { return ring_fd_; }
  void replace_trace_fd(int fd);
  const std::string& directory() const { return directory_; }
  std::string trace_path() const;
  std::string trace_name() const;  // file name alone
  std::string ring_name() const;

 private:
  std::string path_of(const std::string& name) const { return directory_ + "/" + name; }

  mutable std::mutex names_;
  std::string directory_;
  std::string stem_;
  int trace_fd_ = -1;
  int ring_fd_ = -1;
  FileIdentity trace_identity_;
  FileIdentity ring_identity_;
};

}  // namespace plumbline::recorder
