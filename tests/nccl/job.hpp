// One rank of the test job: calls NCCL and CUDA as a job does, checks every result against the closed form of the
// operation, keeps all results for a bit-for-bit comparison, and logs what it called.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/nccl/call_log.hpp"
#include "tests/nccl/elements.hpp"

namespace plumbline::nccl_job {

// A communicator with what the job knows of it.
struct Member {
  ncclComm_t comm = nullptr;
  std::string label;
  int rank = 0;
  int size = 0;
};

inline constexpr std::size_t kCount = 96;  // elements a call
inline constexpr ncclDataType_t kAllTypes[] = {ncclInt8,    ncclUint8,    ncclInt32,      ncclUint32,
                                               ncclInt64,   ncclUint64,   ncclFloat16,    ncclFloat32,
                                               ncclFloat64, ncclBfloat16, ncclFloat8e4m3, ncclFloat8e5m2};

class Job {
 public:
  Job(int rank, int size) : rank(rank), size(size) {}

  void expect(bool holds, const std::string& what);
  void keep(const void* bytes, std::size_t size);  // adds to the results

  // Each logs the call and gives back its code.
  ncclResult_t all_reduce(const Member& on, ncclDataType_t datatype, ncclRedOp_t op, const char* name);
  ncclResult_t log_call(ncclResult_t code, const Moved& call, const Member& on);
  void group_start();
  ncclResult_t group_end();

  // Fills `send` with this rank's pattern and empties `recv`.
  void fill(const Member& on, ncclDataType_t datatype, std::size_t count);

  void use_memory();
  void use_collectives(const Member& on);
  void use_messages(const Member& on);
  void use_operators(const Member& on);
  void use_mistakes(const Member& on);
  void use_graph(const Member& on);
  Member make_world(ncclUniqueId id);
  void use_communicators(const Member& world, ncclUniqueId second_id);
  void end(const Member& on);

  int rank;
  int size;
  int failures = 0;
  CallLog log;
  std::vector<std::byte> results;
  cudaStream_t stream = nullptr;
  bool capturing = false;
  void* send = nullptr;
  void* recv = nullptr;
};

// Element `at` of what a rank puts in: 1 or 2, times the rank's number from 1.
inline double pattern(int rank, std::size_t at) { return (rank + 1) * (1 + static_cast<int>(at % 2)); }

}  // namespace plumbline::nccl_job
