// nccl_job RANKS DIRECTORY: runs the ranks of the test job as processes of their own. Each leaves rank<R>.log, what it
// called, and rank<R>.results, what it got. Exit status 0: every result was right.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include "tests/nccl/job.hpp"

namespace plumbline::nccl_job {
namespace {

// How rank 0 tells the others the unique ids.
struct Blackboard {
  std::atomic<int> ready{0};
  ncclUniqueId ids[2];
};

void exchange_ids(Blackboard& board, int rank) {
  if (rank == 0) {
    for (ncclUniqueId& id : board.ids) ncclGetUniqueId(&id);
    board.ready = 1;
  }
  while (board.ready == 0) ::usleep(100);
}

int run(int rank, int size, Blackboard& board, const std::string& directory) {
  Job job(rank, size);
  const std::size_t room = kCount * static_cast<std::size_t>(size) * sizeof(double);
  job.expect(cudaSetDevice(rank) == cudaSuccess, "device");
  cudaStreamCreate(&job.stream);
  for (void** buffer : {&job.send, &job.recv}) {
    job.expect(cudaMalloc(buffer, room) == cudaSuccess, "buffer");
    job.log.allocated("malloc", rank, *buffer, room);
  }
  exchange_ids(board, rank);

  const Member world = job.make_world(board.ids[0]);
  job.use_memory();
  job.use_operators(world);
  job.use_collectives(world);
  job.use_messages(world);
  job.use_graph(world);
  job.use_communicators(world, board.ids[1]);
  job.use_mistakes(world);
  void* for_nccl = nullptr;
  job.expect(ncclMemAlloc(&for_nccl, 512) == ncclSuccess && ncclMemFree(for_nccl) == ncclSuccess, "NCCL's memory");
  job.end(world);

  for (void* buffer : {job.send, job.recv}) {
    job.log.released("malloc", rank, buffer);
    cudaFree(buffer);
  }
  cudaStreamDestroy(job.stream);
  const std::string base = directory + "/rank" + std::to_string(rank);
  job.expect(job.log.write(base + ".log"), "the log");
  std::ofstream(base + ".results", std::ios::binary)
      .write(reinterpret_cast<const char*>(job.results.data()), static_cast<std::streamsize>(job.results.size()));
  return job.failures == 0 ? 0 : 1;
}

pid_t start(int rank, int size, Blackboard& board, const std::string& directory) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv("RANK", std::to_string(rank).c_str(), 1);
  ::setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("WORLD_SIZE", std::to_string(size).c_str(), 1);
  std::exit(run(rank, size, board, directory));
}

}  // namespace
}  // namespace plumbline::nccl_job

int main(int argc, char** argv) {
  using namespace plumbline::nccl_job;
  const int size = argc == 3 ? std::atoi(argv[1]) : 0;
  if (size < 2 || size > 8) {
    std::fprintf(stderr, "usage: nccl_job RANKS DIRECTORY\n");
    return 2;
  }
  void* shared = ::mmap(nullptr, sizeof(Blackboard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& board = *new (shared) Blackboard;
  for (int rank = 0; rank < size; ++rank) {
    if (start(rank, size, board, argv[2]) < 0) return 2;
  }
  int worst = 0;
  int status = 0;
  while (::wait(&status) > 0) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) worst = 1;
  }
  return worst;
}
