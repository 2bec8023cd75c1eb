// The stand-in communicator and what is done with it.
#pragma once

#include <nccl.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/standin/reduce.hpp"
#include "tests/standin/room.hpp"

struct ncclComm {
  plumbline::standin::Room room;
  int rank = 0;
  int size = 0;
  int device = 0;
  bool blocking = true;
  bool finalized = false;
  void* scratch = nullptr;  // device memory, as NCCL has for itself
  unsigned children = 0;
  std::map<int, plumbline::standin::Reduction> reductions;  // made by ncclRedOpCreatePreMulSum
  int next_reduction = ncclNumOps;
  std::atomic<ncclResult_t> state{ncclSuccess};  // what ncclCommGetAsyncError says
  std::thread background;                        // of a non-blocking communicator
  ~ncclComm();
};

namespace plumbline::standin {

enum class What {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
  kSplit,
};

struct Operation {
  What what;
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  ncclDataType_t datatype = ncclInt8;
  Reduction reduction;
  int root = 0;  // or peer
  ncclComm* comm = nullptr;
  cudaStream_t stream = nullptr;
};

// ncclInvalidArgument or ncclInvalidUsage where NCCL would say so, before anything is done.
ncclResult_t check(const Operation& operation);

// Executes operations of one communicator: its collectives in their order, then all sends and receives together.
ncclResult_t execute(ncclComm& comm, const std::vector<Operation>& operations);

// Makes a communicator whose ranks meet at `path`. `place` gets it at once.
ncclResult_t make_comm(ncclComm** place, const std::string& path, int rank, int size, const ncclConfig_t* config);

// Members of the new communicator: the ranks of the parent with this color, by key, then rank.
ncclResult_t split(ncclComm& parent, int color, int key, ncclComm** place, const ncclConfig_t* config);
ncclResult_t shrink(ncclComm& parent, std::vector<int> excluded, ncclComm** place, const ncclConfig_t* config);

// Group calls of the calling thread.
ncclResult_t group_start();
ncclResult_t group_end(bool simulate);

// Does it now, or, in a group call, when the group ends. Jobs of a group run side by side.
ncclResult_t submit(const Operation& operation);
ncclResult_t submit_job(ncclComm* nonblocking, std::function<ncclResult_t()> job);

// The message for ncclGetLastError.
ncclResult_t failed(ncclResult_t code, const char* message);
const char* last_message();

}  // namespace plumbline::standin
