// scenario <name> [library directory]: a small job of one kind or another, run under the preload object by
// preload_test.cpp. It finds "torch" as Python does: by dlopen with RTLD_LOCAL, at run time.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/shim/fake_torch.hpp"

namespace {

using c10d::Backend;
using c10d::Tensors;
using std::chrono::milliseconds;

std::string library_directory;

void* library(const char* name) {
  void* handle = dlopen((library_directory + "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(99);
  }
  return handle;
}

// libtorch_cpu.so calls the allocator of libc10.so; here the job does so itself, through a library of its own that is
// linked to libc10.so.
using Allocate = void*(std::size_t);
using Free = void(void*);
Allocate* allocate() {
  static auto* const function = reinterpret_cast<Allocate*>(dlsym(library("libfake_user.so"), "user_alloc"));
  return function;
}
Free* give_back() {
  static auto* const function = reinterpret_cast<Free*>(dlsym(library("libfake_user.so"), "user_free"));
  return function;
}

std::unique_ptr<Backend> backend(const char* factory) {
  using Factory = Backend*();
  return std::unique_ptr<Backend>(reinterpret_cast<Factory*>(dlsym(library("libtorch_cpu.so"), factory))());
}
std::unique_ptr<Backend> gloo() { return backend("fake_gloo"); }

void train(Backend& group, int steps) {
  for (int i = 0; i < steps; ++i) {
    Tensors tensors{{10}};
    group.allreduce(tensors, {})->wait(milliseconds(0));
  }
}

template <class Body>
[[gnu::noinline]] void deeper(int levels, const Body& body) {
  volatile char room[512] = {};
  if (levels > 0) {
    deeper(levels - 1, body);
  } else {
    body();
  }
  room[0] = room[1];
}

bool raises(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception&) {
    return true;
  }
  return false;
}

int allocations() {
  std::vector<void*> blocks;
  for (std::size_t i = 1; i <= 1000; ++i) blocks.push_back(allocate()(i * 16));
  for (void* block : blocks) give_back()(block);
  give_back()(nullptr);
  const bool nothing = allocate()(0) == nullptr;
  const auto group = gloo();
  train(*group, 1);
  return nothing ? 0 : 1;
}

int failing_allocation() {
  const auto group = gloo();
  train(*group, 1);
  const bool raised = raises([] { allocate()(std::size_t{1} << 60); });
  give_back()(allocate()(64));
  return raised ? 0 : 1;
}

// Raised by the call, then further calls: one from deeper in the job, one from where the first came from.
int raising_call() {
  const auto group = gloo();
  Tensors none;
  if (!raises([&] { group->allreduce(none, {}); })) return 1;
  deeper(50, [&] { train(*group, 1); });
  if (!raises([&] { deeper(50, [&] { group->allreduce(none, {}); }); })) return 2;
  train(*group, 2);
  return 0;
}

int raising_at_the_end() {
  const auto group = gloo();
  train(*group, 1);
  Tensors none;
  return raises([&] { group->allreduce(none, {}); }) ? 0 : 1;
}

int failing_work() {
  const auto group = gloo();
  Tensors bad{{-1}};
  if (!raises([&] { group->allreduce(bad, {})->wait(milliseconds(0)); })) return 1;
  train(*group, 1);
  return 0;
}

int failing_receive() {
  const auto group = gloo();
  Tensors tensors{{5}};
  if (!raises([&] { group->recv(tensors, -2, 0)->wait(milliseconds(0)); })) return 1;
  train(*group, 1);
  return 0;
}

// One of each, so that every shape of arguments and the hidden return pointer are seen to work.
template <class Finish>
void call_all(Backend& group, const Finish& finish) {
  at::Tensor a{3};
  at::Tensor b{4};
  Tensors one{{7}};
  Tensors two{{7}, {8}};
  c10d::TensorLists lists{{{1}}, {{2}}};
  c10d::Counts counts{1, 2};
  finish(group.allreduce(one, {}));
  finish(group.allreduce_sparse(one, {}));
  finish(group.allreduce_coalesced(one, {}));
  finish(group.reduce(one, {}));
  finish(group.broadcast(one, {}));
  finish(group.allgather(lists, one, {}));
  finish(group._allgather_base(a, b, {}));
  finish(group.allgather_coalesced(lists, one, {}));
  finish(group.allgather_into_tensor_coalesced(one, two, {}));
  finish(group.reduce_scatter(two, lists, {}));
  finish(group._reduce_scatter_base(a, b, {}));
  finish(group.reduce_scatter_tensor_coalesced(one, two, {}));
  finish(group.alltoall_base(a, b, counts, counts, {}));
  finish(group.gather(lists, one, {}));
  finish(group.scatter(one, lists, {}));
  finish(group.send(one, 1, 42));
  finish(group.recv(one, 1, 42));
  finish(group.recvAnysource(one, 42));
  finish(group.all_gather_single(a, b, {}));
  finish(group.all_gather_single_coalesced(one, two, {}));
  finish(group.reduce_scatter_single(a, b, {}));
  finish(group.reduce_scatter_single_coalesced(one, two, {}));
  finish(group.all_to_all_single(a, b, counts, counts, {}));
  finish(group.barrier({}));
  group.monitoredBarrier({}, true);
}

int every_call() {
  const auto group = gloo();
  call_all(*group, [](const c10d::WorkPtr& work) { work->wait(milliseconds(0)); });
  return raises([&] {
    Tensors one{{1}};
    group->alltoall(one, one, {});
  })
             ? 0
             : 1;
}

int two_groups() {
  const auto first = gloo();
  const auto second = gloo();
  train(*first, 2);
  train(*second, 1);
  train(*first, 1);
  Tensors tensors{{1}};
  first->send(tensors, 1, 0)->wait(milliseconds(0));
  return 0;
}

int no_training() {
  give_back()(allocate()(4096));
  return 3;
}

int fork_worker() {
  const auto group = gloo();
  train(*group, 2);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 100; ++i) give_back()(allocate()(4096));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  train(*group, 1);
  return status;
}

int fork_training() {
  const auto group = gloo();
  train(*group, 2);
  const pid_t child = fork();
  if (child == 0) {
    auto* const own = gloo().release();
    train(*own, 5);
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  train(*group, 1);
  return status;
}

// Trains, and becomes another program amid that, which trains too.
int exec_midway() {
  const auto group = gloo();
  train(*group, 2);
  execl("/proc/self/exe", "shim_scenario", "every_call", library_directory.c_str(), nullptr);
  return 96;
}

int fork_among_threads() {
  const auto group = gloo();
  train(*group, 1);
  give_back()(allocate()(64));  // looked up before there are threads: a fork amid the lookup would lock the child up
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!stop.load()) give_back()(allocate()(4096));
    });
  }
  int status = 0;
  for (int i = 0; i < 20 && status == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      give_back()(allocate()(64));
      _exit(0);
    }
    waitpid(child, &status, 0);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  return status;
}

int many_threads() {
  const auto group = gloo();
  train(*group, 1);
  std::vector<std::thread> threads;
  threads.reserve(64);
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) give_back()(allocate()(64 + static_cast<std::size_t>(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int leave_by_exit() {
  train(*gloo(), 3);
  std::exit(7);
}

int leave_at_once() {
  train(*gloo(), 3);
  _exit(8);
}

int leave_by_signal(int signal) {
  auto* const group = gloo().release();
  train(*group, 3);
  Tensors tensors{{10}};
  group->recv(tensors, 1, 5);
  raise(signal);
  return 0;
}

int nccl_calls() {
  const auto group = backend("fake_nccl");
  call_all(*group, [](const c10d::WorkPtr&) {});
  Tensors one{{1}};
  group->alltoall(one, one, {});
  at::Tensor tensor{1};
  group->gather_single(tensor, tensor, {});
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 98;
  library_directory = arguments[2];
  const std::map<std::string, std::function<int()>> scenarios{
      {"allocations", allocations},
      {"failing_allocation", failing_allocation},
      {"raising_call", raising_call},
      {"raising_at_the_end", raising_at_the_end},
      {"failing_work", failing_work},
      {"failing_receive", failing_receive},
      {"every_call", every_call},
      {"two_groups", two_groups},
      {"no_training", no_training},
      {"fork_worker", fork_worker},
      {"fork_training", fork_training},
      {"exec_midway", exec_midway},
      {"fork_among_threads", fork_among_threads},
      {"many_threads", many_threads},
      {"leave_by_exit", leave_by_exit},
      {"leave_at_once", leave_at_once},
      {"leave_by_segv", [] { return leave_by_signal(SIGSEGV); }},
      {"leave_by_abort", [] { return leave_by_signal(SIGABRT); }},
      {"leave_by_kill", [] { return leave_by_signal(SIGKILL); }},
      {"nccl_calls", nccl_calls},
  };
  const auto scenario = scenarios.find(arguments[1]);
  return scenario == scenarios.end() ? 97 : scenario->second();
}
