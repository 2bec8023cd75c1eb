#include "tests/shim/recorded_job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace plumbline::tests {
namespace {

using recorder::Kind;

constexpr unsigned kSecondsForAJob = 120;

// Settings of whoever runs the tests are not the job's.
void drop_settings() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("PLUMBLINE_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

[[noreturn]] void become(const std::vector<std::string>& command, const RecordedJob::Environment& environment,
                         const std::string& directory) {
  const int output = open((directory + "/output").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  close(output);
  drop_settings();
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  alarm(kSecondsForAJob);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(96);
}

void add_mark(RecordedCall& call, const reader::MarkBatch& marks, std::size_t i) {
  const auto kind = static_cast<Kind>(marks.kind[i]);
  ++call.marks[kind];
  if (kind == Kind::kCollectiveEnd) {
    call.outcome = static_cast<recorder::Outcome>(marks.outcome[i]);
    call.end_ns = marks.time_ns[i];
  }
  if (kind == Kind::kWaitEnd) call.wait_outcome = static_cast<recorder::Outcome>(marks.outcome[i]);
}

void add_frame(RecordedProcess& process, std::map<std::uint64_t, RecordedCall>& calls, const reader::FrameView& frame) {
  for (const auto& batch : frame.allocations) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      process.allocations.push_back(
          {static_cast<Kind>(batch.kind[i]), batch.time_ns[i], batch.address[i], batch.size[i]});
    }
  }
  for (const auto& batch : frame.collectives) {
    for (std::size_t i = 0; i < batch.count; ++i) {
      RecordedCall& call = calls[batch.id[i]];
      call.op = reader::op_of(batch.tag[i]);
      call.id = batch.id[i];
      call.group = batch.group[i];
      call.seq = batch.seq[i];
      call.parent = batch.parent[i];
      call.buffer_in = batch.buffer_in[i];
      call.peer = static_cast<int>(batch.peer[i]);
      call.tensor_tag = static_cast<int>(batch.tensor_tag[i]);
      call.time_ns = batch.time_ns[i];
    }
  }
  for (const auto& batch : frame.marks) {
    for (std::size_t i = 0; i < batch.count; ++i) add_mark(calls[batch.id[i]], batch, i);
  }
}

RecordedProcess read_process(const reader::Trace& trace) {
  RecordedProcess process;
  std::map<std::uint64_t, RecordedCall> calls;
  trace.read({}, [&](const reader::FrameView& frame) {
    add_frame(process, calls, frame);
    return true;
  });
  for (const auto& [id, call] : calls) {
    EXPECT_EQ(call.id, id) << "a mark without its call";
    process.calls.push_back(call);
  }
  std::stable_sort(process.allocations.begin(), process.allocations.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  for (const std::uint64_t events : trace.dropped()) process.dropped += events;
  EXPECT_TRUE(trace.damage().empty() || !trace.clean_end());
  process.clean_end = trace.clean_end();
  if (const reader::ExitInfo* exit = trace.exit()) {
    process.exit_status = exit->status;
    process.exit_signal = exit->signal;
  }
  process.pid = trace.pid();
  process.definitions = trace.definitions();
  return process;
}

}  // namespace

const reader::HookCount* RecordedProcess::hook(const std::string& name) const {
  for (const reader::HookCount& hook : definitions.hooks) {
    if (hook.name == name) return &hook;
  }
  return nullptr;
}

std::uint64_t RecordedProcess::fired(const std::string& name) const {
  const reader::HookCount* found = hook(name);
  return found != nullptr ? found->fired : 0;
}

RecordedJob::RecordedJob(const std::vector<std::string>& command, const Environment& environment) {
  directory_ = testing::TempDir() + "job-XXXXXX";
  EXPECT_NE(mkdtemp(directory_.data()), nullptr);
  std::filesystem::create_directory(directory_ + "/run");
  Environment all{{"LD_PRELOAD", PLUMBLINE_PRELOAD_OBJECT},
                  {"PLUMBLINE_RUN", directory_ + "/run/here"},
                  {"PLUMBLINE_CACHE", directory_ + "/no-cache"}};
  all.insert(all.end(), environment.begin(), environment.end());

  const pid_t child = fork();
  if (child == 0) become(command, all, directory_);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) exit_status_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) signal_ = WTERMSIG(status);
  std::ostringstream text;
  text << std::ifstream(directory_ + "/output").rdbuf();
  output_ = text.str();
}

RecordedJob::~RecordedJob() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::vector<std::string> RecordedJob::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ + "/run")) {
    names.push_back(entry.path().filename());
  }
  return names;
}

std::vector<std::string> RecordedJob::log() const {
  std::ifstream file(directory() + "/plumbline.log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<RecordedProcess> RecordedJob::processes() const {
  auto run = reader::Run::open(directory());
  if (!run.ok()) {
    ADD_FAILURE() << run.status().message() << "\n" << output_;
    return {};
  }
  std::vector<RecordedProcess> found;
  for (const reader::Trace& trace : run->traces()) found.push_back(read_process(trace));
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return found;
}

RecordedProcess RecordedJob::process() const {
  std::vector<RecordedProcess> all = processes();
  EXPECT_EQ(all.size(), 1u) << output_;
  return all.size() == 1 ? std::move(all[0]) : RecordedProcess{};
}

}  // namespace plumbline::tests
