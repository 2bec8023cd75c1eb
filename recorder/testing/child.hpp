// Tests of the process-wide recorder run in a child process each: it can be started only once in a process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace plumbline::recorder::testing {

// Runs the function in a child; the exit status that wait() gives. The child leaves without running exit handlers.
template <class Function>
int run_in_child(Function&& function) {
  const pid_t child = fork();
  if (child == 0) {
    function();
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// A directory of its own, gone with the object.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "plumbline-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a directory");
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace plumbline::recorder::testing
