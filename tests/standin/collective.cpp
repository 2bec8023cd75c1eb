// Collectives and point-to-point messages of the stand-in, through the shared room.
#include <algorithm>
#include <cstring>

#include "tests/standin/comm.hpp"

// Where the process has the stand-in for CUPTI too, a collective is a kernel.
extern "C" [[gnu::weak]] void standin_cupti_launch(const char* name);

namespace plumbline::standin {
namespace {

bool is_message(What what) { return what == What::kSend || what == What::kRecv; }

bool reduces(What what) { return what == What::kAllReduce || what == What::kReduce || what == What::kReduceScatter; }

bool has_root(What what) {
  return what == What::kReduce || what == What::kBroadcast || what == What::kGather || what == What::kScatter;
}

// Elements that this rank puts into its outbox.
std::size_t input_count(const Operation& operation, int rank, int size) {
  switch (operation.what) {
    case What::kBroadcast:
      return rank == operation.root ? operation.count : 0;
    case What::kScatter:
      return rank == operation.root ? operation.count * size : 0;
    case What::kReduceScatter:
    case What::kAllToAll:
      return operation.count * size;
    default:
      return operation.count;
  }
}

bool agree(const Announcement& a, const Announcement& b) {
  return a.what == b.what && a.datatype == b.datatype && a.reduce == b.reduce && a.root == b.root && a.count == b.count;
}

void gather_parts(ncclComm& comm, std::byte* result, std::size_t bytes, std::size_t offset_in_outbox) {
  for (int rank = 0; rank < comm.size; ++rank) {
    std::memcpy(result + rank * bytes, comm.room.outbox(rank) + offset_in_outbox, bytes);
  }
}

void reduce_parts(ncclComm& comm, const Operation& operation, std::byte* result, std::size_t offset_in_outbox) {
  std::vector<const std::byte*> inputs;
  for (int rank = 0; rank < comm.size; ++rank) inputs.push_back(comm.room.outbox(rank) + offset_in_outbox);
  Reduction reduction = operation.reduction;
  if (reduction.scaled) reduction.op = ncclSum;
  reduce(inputs, result, operation.count, operation.datatype, reduction);
}

// Every rank's input is in its outbox: takes this rank's output from them.
void take_output(ncclComm& comm, const Operation& operation) {
  auto* result = static_cast<std::byte*>(operation.recv);
  const std::size_t bytes = operation.count * size_of(operation.datatype);
  const std::size_t mine = bytes * comm.rank;
  const bool root = comm.rank == operation.root;
  switch (operation.what) {
    case What::kAllReduce:
      return reduce_parts(comm, operation, result, 0);
    case What::kReduce:
      return root ? reduce_parts(comm, operation, result, 0) : void();
    case What::kReduceScatter:
      return reduce_parts(comm, operation, result, mine);
    case What::kBroadcast:
      std::memcpy(result, comm.room.outbox(operation.root), bytes);
      return;
    case What::kScatter:
      std::memcpy(result, comm.room.outbox(operation.root) + mine, bytes);
      return;
    case What::kAllGather:
      return gather_parts(comm, result, bytes, 0);
    case What::kGather:
      return root ? gather_parts(comm, result, bytes, 0) : void();
    case What::kAllToAll:
      return gather_parts(comm, result, bytes, mine);
    default:
      return;
  }
}

ncclResult_t run_collective(ncclComm& comm, const Operation& operation) {
  const std::size_t count = input_count(operation, comm.rank, comm.size);
  const std::size_t bytes = count * size_of(operation.datatype);
  if (bytes > kOutboxBytes) return failed(ncclInternalError, "the stand-in moves 64 MiB a rank at most");
  if (bytes != 0) std::memcpy(comm.room.outbox(comm.rank), operation.send, bytes);
  if (operation.reduction.scaled) scale(comm.room.outbox(comm.rank), count, operation.datatype, operation.reduction);

  Announcement& mine = comm.room.announcement(comm.rank);
  // Operators of the same kind have a number of their own on each rank.
  const int reduce = operation.reduction.scaled ? int{ncclNumOps} : int{operation.reduction.op};
  mine = {static_cast<int>(operation.what),
          operation.datatype,
          reduces(operation.what) ? reduce : 0,
          has_root(operation.what) ? operation.root : 0,
          operation.count,
          0,
          0};
  if (ncclResult_t code = comm.room.meet(); code != ncclSuccess) return failed(code, "a rank is gone");
  bool equal = true;
  for (int rank = 0; rank < comm.size; ++rank) equal = equal && agree(mine, comm.room.announcement(rank));
  if (equal) take_output(comm, operation);
  if (standin_cupti_launch != nullptr) standin_cupti_launch("ncclDevKernel");
  if (ncclResult_t code = comm.room.meet(); code != ncclSuccess) return failed(code, "a rank is gone");
  return equal ? ncclSuccess : failed(ncclInvalidArgument, "the ranks called with different arguments");
}

// Tries to move one message. ncclInProgress: its box is not ready.
ncclResult_t try_message(ncclComm& comm, const Operation& operation) {
  const bool sends = operation.what == What::kSend;
  const int from = sends ? comm.rank : operation.root;
  const int to = sends ? operation.root : comm.rank;
  Box& box = comm.room.control().boxes[from][to];
  const bool full = box.sent.load() != box.taken.load();
  if (full == sends) return ncclInProgress;
  const std::size_t bytes = operation.count * size_of(operation.datatype);
  if (sends) {
    if (bytes > kBoxBytes) return failed(ncclInternalError, "the stand-in sends 16 MiB at most");
    box.count = operation.count;
    box.datatype = operation.datatype;
    if (bytes != 0) std::memcpy(comm.room.box(from, to), operation.send, bytes);
    box.sent.fetch_add(1);
    return ncclSuccess;
  }
  const bool equal = box.count == operation.count && box.datatype == operation.datatype;
  if (equal && bytes != 0) std::memcpy(operation.recv, comm.room.box(from, to), bytes);
  box.taken.fetch_add(1);
  return equal ? ncclSuccess : failed(ncclInvalidArgument, "sender and receiver called with different arguments");
}

bool same_channel(const Operation& a, const Operation& b) { return a.what == b.what && a.root == b.root; }

ncclResult_t run_messages(ncclComm& comm, std::vector<Operation> waiting) {
  unsigned turns = 0;
  ncclResult_t worst = ncclSuccess;
  while (!waiting.empty()) {
    std::vector<Operation> left;
    for (const Operation& operation : waiting) {
      // Messages of one channel keep their order.
      const bool blocked =
          std::any_of(left.begin(), left.end(), [&](const auto& earlier) { return same_channel(earlier, operation); });
      const ncclResult_t code = blocked ? ncclInProgress : try_message(comm, operation);
      if (code == ncclInProgress)
        left.push_back(operation);
      else if (code != ncclSuccess)
        worst = code;
    }
    if (left.size() == waiting.size() && !comm.room.keep_waiting(turns)) {
      return failed(ncclRemoteError, "a peer is gone");
    }
    waiting = std::move(left);
  }
  return worst;
}

}  // namespace

ncclResult_t check(const Operation& operation) {
  if (operation.comm == nullptr) return failed(ncclInvalidArgument, "no communicator");
  const ncclComm& comm = *operation.comm;
  if (comm.finalized) return failed(ncclInvalidUsage, "the communicator is finalized");
  if (size_of(operation.datatype) == 0) return failed(ncclInvalidArgument, "no such data type");
  const bool rooted = has_root(operation.what) || is_message(operation.what);
  if (rooted && (operation.root < 0 || operation.root >= comm.size)) {
    return failed(ncclInvalidArgument, "root or peer is not a rank of the communicator");
  }
  const bool puts_in = input_count(operation, comm.rank, comm.size) > 0 && operation.what != What::kRecv;
  const bool gets_out =
      operation.count > 0 && operation.what != What::kSend &&
      (comm.rank == operation.root || (operation.what != What::kReduce && operation.what != What::kGather));
  if ((puts_in && operation.send == nullptr) || (gets_out && operation.recv == nullptr)) {
    return failed(ncclInvalidArgument, "a buffer is missing");
  }
  if (reduces(operation.what) && !operation.reduction.scaled &&
      (operation.reduction.op < 0 || operation.reduction.op >= ncclNumOps)) {
    return failed(ncclInvalidArgument, "no such reduction operator");
  }
  return ncclSuccess;
}

ncclResult_t execute(ncclComm& comm, const std::vector<Operation>& operations) {
  ncclResult_t worst = ncclSuccess;
  std::vector<Operation> messages;
  for (const Operation& operation : operations) {
    if (is_message(operation.what)) {
      messages.push_back(operation);
    } else if (ncclResult_t code = run_collective(comm, operation); code != ncclSuccess) {
      worst = code;
    }
  }
  const ncclResult_t code = run_messages(comm, std::move(messages));
  return code != ncclSuccess ? code : worst;
}

}  // namespace plumbline::standin
