// Group calls of the stand-in, and how operations reach their stream.
#include <map>
#include <memory>
#include <thread>
#include <utility>

#include "tests/standin/comm.hpp"

namespace plumbline::standin {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;  // of a member; the whole group then fails
  std::vector<Operation> operations;
  std::vector<std::function<ncclResult_t()>> jobs;
};

thread_local Group group;
thread_local const char* message = "";

bool captures(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(operation.stream, &status);
    if (status == cudaStreamCaptureStatusActive) return true;
  }
  return false;
}

// What a graph launches again and again, so nobody knows when it is done with.
struct Captured {
  ncclComm* comm;
  std::vector<Operation> operations;
};

void launch_captured(void* data) {
  const auto& captured = *static_cast<Captured*>(data);
  const ncclResult_t code = execute(*captured.comm, captured.operations);
  if (code != ncclSuccess) captured.comm->state = code;
}

ncclResult_t run_on_stream(ncclComm& comm, const std::vector<Operation>& operations) {
  if (!captures(operations)) return execute(comm, operations);
  static auto* const kept = new std::vector<std::unique_ptr<Captured>>;
  kept->push_back(std::make_unique<Captured>(Captured{&comm, operations}));
  cudaLaunchHostFunc(operations.front().stream, launch_captured, kept->back().get());
  return ncclSuccess;
}

ncclResult_t run_side_by_side(const std::vector<std::function<ncclResult_t()>>& jobs) {
  if (jobs.size() == 1) return jobs.front()();
  std::vector<ncclResult_t> codes(jobs.size(), ncclSuccess);
  std::vector<std::thread> threads;
  int device = 0;
  cudaGetDevice(&device);
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    threads.emplace_back([&, at] {
      cudaSetDevice(device);
      codes[at] = jobs[at]();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (ncclResult_t code : codes) {
    if (code != ncclSuccess) return code;
  }
  return ncclSuccess;
}

ncclResult_t run(Group& ended) {
  std::map<ncclComm*, std::vector<Operation>> by_comm;
  for (const Operation& operation : ended.operations) by_comm[operation.comm].push_back(operation);
  std::vector<std::function<ncclResult_t()>> jobs = ended.jobs;
  for (auto& [comm, operations] : by_comm) {
    jobs.push_back([comm = comm, &operations = operations] { return run_on_stream(*comm, operations); });
  }
  return jobs.empty() ? ncclSuccess : run_side_by_side(jobs);
}

}  // namespace

ncclResult_t group_start() {
  ++group.depth;
  return ncclSuccess;
}

ncclResult_t group_end(bool simulate) {
  if (group.depth == 0) return failed(ncclInvalidUsage, "no group call is open");
  if (--group.depth > 0) return ncclSuccess;
  Group ended = std::exchange(group, Group{});
  if (ended.error != ncclSuccess || simulate) return ended.error;
  return run(ended);
}

ncclResult_t submit(const Operation& operation) {
  const ncclResult_t code = check(operation);
  if (code != ncclSuccess) {
    if (group.depth > 0) group.error = code;
    return code;
  }
  if (group.depth == 0) return run_on_stream(*operation.comm, {operation});
  group.operations.push_back(operation);
  return ncclSuccess;
}

ncclResult_t submit_job(ncclComm* nonblocking, std::function<ncclResult_t()> job) {
  if (nonblocking != nullptr) {
    if (nonblocking->background.joinable()) nonblocking->background.join();
    nonblocking->state = ncclInProgress;
    int device = 0;
    cudaGetDevice(&device);
    nonblocking->background = std::thread([=] {
      cudaSetDevice(device);
      nonblocking->state = job();
    });
    return ncclInProgress;
  }
  if (group.depth == 0) return job();
  group.jobs.push_back(std::move(job));
  return ncclSuccess;
}

ncclResult_t failed(ncclResult_t code, const char* text) {
  message = text;
  return code;
}

const char* last_message() { return message; }

}  // namespace plumbline::standin
