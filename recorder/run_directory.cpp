#include "recorder/run_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace plumbline::recorder {
namespace {

constexpr int kMostSuffixes = 1000;

std::string absolute(const std::string& path) {
  if (!path.empty() && path.front() == '/') return path;
  char here[4096];
  if (getcwd(here, sizeof(here)) == nullptr) return path;
  return path.empty() ? here : std::string(here) + "/" + path;
}

bool make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    if (mkdir(path.substr(0, at).c_str(), 0777) != 0 && errno != EEXIST) {
      struct stat status {};
      // An existing parent may answer with another error, e.g. on a read-only file system.
      const int error = errno;
      if (stat(path.substr(0, at).c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = error;
        return false;
      }
    }
    if (at == std::string::npos) return true;
  }
}

std::string with_suffix(const std::string& stem, int attempt) {
  return attempt == 0 ? stem : stem + "." + std::to_string(attempt);
}

int create_new(const std::string& path) { return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644); }

// Never replaces a file. link() is the portable way; file systems without hard links take the second.
bool rename_to_free_name(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  struct stat status {};
  if (lstat(to.c_str(), &status) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(from.c_str(), to.c_str()) == 0;
}

std::string file_name_part(const std::string& host) {
  std::string name = host;
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) <= ' ') c = '_';
  }
  return name;
}

}  // namespace

std::string run_directory(const Settings& settings) {
  if (!settings.run_directory.empty()) return absolute(settings.run_directory);
  return absolute(settings.base_directory) + "/plumbline-run-" + launch_stamp();
}

std::string trace_stem(const Identity& identity) {
  const std::string where = file_name_part(identity.host) + "-" + std::to_string(identity.pid);
  if (identity.rank < 0) return "proc-" + where;
  return "rank" + std::to_string(identity.rank) + "-a" + std::to_string(identity.attempt) + "-" + where;
}

std::optional<std::string> RunFiles::create(const std::string& directory, const Identity& identity) {
  directory_ = directory;
  if (!make_directories(directory)) {
    return "cannot make the run directory " + directory + ": " + std::strerror(errno);
  }
  const std::string stem = ".pending-" + file_name_part(identity.host) + "-" + std::to_string(identity.pid);
  for (int i = 0; i < kMostSuffixes; ++i) {
    stem_ = with_suffix(stem, i);
    const int trace = create_new(path_of(stem_ + ".plt"));
    if (trace < 0 && errno == EEXIST) continue;
    if (trace < 0) break;
    const int ring = create_new(path_of(stem_ + ".ring"));
    if (ring >= 0) {
      trace_.adopt(trace);
      ring_.adopt(ring);
      return std::nullopt;
    }
    const int error = errno;
    ::close(trace);
    unlink(path_of(stem_ + ".plt").c_str());
    errno = error;
    if (error != EEXIST) break;
  }
  const int error = errno;
  rmdir(directory.c_str());
  return "cannot create a trace in " + directory + ": " + std::strerror(error);
}

bool RunFiles::promote(const Identity& identity) {
  const std::lock_guard lock(names_);
  const std::string stem = trace_stem(identity);
  for (int i = 0; i < kMostSuffixes; ++i) {
    const std::string target = with_suffix(stem, i);
    // The ring first: a trace under a lasting name then always has its ring beside it.
    if (!rename_to_free_name(path_of(stem_ + ".ring"), path_of(target + ".ring"))) {
      if (errno == EEXIST) continue;
      return false;
    }
    if (rename_to_free_name(path_of(stem_ + ".plt"), path_of(target + ".plt"))) {
      stem_ = target;
      return true;
    }
    const int error = errno;
    rename(path_of(target + ".ring").c_str(), path_of(stem_ + ".ring").c_str());
    if (error != EEXIST) return false;
  }
  return false;
}

bool RunFiles::replace_trace(const std::string& new_path, OwnFile& file) {
  const std::lock_guard lock(names_);
  if (rename(new_path.c_str(), path_of(stem_ + ".plt").c_str()) != 0) return false;
  trace_.close();
  trace_ = std::exchange(file, OwnFile());
  return true;
}

void RunFiles::remove_ring() {
  const std::lock_guard lock(names_);
  unlink(path_of(stem_ + ".ring").c_str());
}

void RunFiles::discard() {
  const std::lock_guard lock(names_);
  unlink(path_of(stem_ + ".plt").c_str());
  unlink(path_of(stem_ + ".ring").c_str());
  rmdir(directory_.c_str());
}

void RunFiles::close() {
  trace_.close();
  ring_.close();
}

int RunFiles::trace_fd() {
  const std::lock_guard lock(names_);
  return trace_.fd(path_of(stem_ + ".plt"));
}

int RunFiles::ring_fd() {
  const std::lock_guard lock(names_);
  return ring_.fd(path_of(stem_ + ".ring"));
}

std::optional<std::string> RunFiles::lost() {
  struct stat status {};
  const int fd = trace_fd();
  if (fd >= 0 && fstat(fd, &status) == 0 && status.st_nlink != 0) return std::nullopt;
  if (fd >= 0 || errno == ENOENT) return "the trace in " + directory_ + " was deleted";
  return "the job closed the descriptor of the trace in " + directory_ +
         ", and it cannot be opened again: " + std::strerror(errno);
}

std::string RunFiles::trace_path() const {
  const std::lock_guard lock(names_);
  return path_of(stem_ + ".plt");
}

std::string RunFiles::trace_name() const {
  const std::lock_guard lock(names_);
  return stem_ + ".plt";
}

std::string RunFiles::ring_name() const {
  const std::lock_guard lock(names_);
  return stem_ + ".ring";
}

}  // namespace plumbline::recorder
