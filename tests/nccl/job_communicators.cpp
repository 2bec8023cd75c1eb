// Communicators made in every way, used, and ended; calls that NCCL refuses.
#include <algorithm>

#include "tests/nccl/job.hpp"

namespace plumbline::nccl_job {
namespace {

// A non-blocking communicator is waited for as NCCL's manual says.
ncclResult_t wait_for(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    if (ncclCommGetAsyncError(comm, &state) != ncclSuccess) return ncclSystemError;
  }
  return state;
}

}  // namespace

Member Job::make_world(ncclUniqueId id) {
  Member world{nullptr, "world", rank, size};
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.commName = "the world";
  log.comm("init", nullptr, rank, size, ncclInProgress);
  const ncclResult_t code = ncclCommInitRankConfig(&world.comm, size, id, rank, &config);
  log.comm("init", world.comm, rank, size, code);
  expect(code == ncclSuccess, "world communicator");
  int count = 0;
  expect(ncclCommCount(world.comm, &count) == ncclSuccess && count == size, "size of the world");
  return world;
}

void Job::end(const Member& on) {
  log.comm("finalize", on.comm, on.rank, on.size, ncclSuccess);
  expect(ncclCommFinalize(on.comm) == ncclSuccess, "finalize");
  log.comm("destroy", on.comm, on.rank, on.size, ncclSuccess);
  expect(ncclCommDestroy(on.comm) == ncclSuccess, "destroy");
}

void Job::use_communicators(const Member& world, ncclUniqueId second_id) {
  const auto use = [&](const Member& on) {
    fill(on, ncclInt32, kCount);
    expect(all_reduce(on, ncclInt32, ncclSum, "sum") == ncclSuccess, on.label);
    expect(Elements(recv, ncclInt32).equals(0, on.size * (on.size + 1) / 2.0), on.label);
  };

  // Even and odd ranks, in reversed order.
  const int parity = world.rank % 2;
  Member half{nullptr, parity == 0 ? "even" : "odd", 0, (size + 1 - parity) / 2};
  half.rank = half.size - 1 - world.rank / 2;
  log.comm("split", nullptr, -1, -1, ncclInProgress);
  expect(ncclCommSplit(world.comm, parity, -world.rank, &half.comm, nullptr) == ncclSuccess, "split");
  log.comm("split", half.comm, half.rank, half.size, ncclSuccess);
  use(half);
  end(half);

  // The last rank takes part and joins nothing.
  const bool joins = world.rank != size - 1;
  Member most{nullptr, "most", world.rank, size - 1};
  log.comm("split", nullptr, -1, -1, ncclInProgress);
  expect(ncclCommSplit(world.comm, joins ? 7 : NCCL_SPLIT_NOCOLOR, 0, &most.comm, nullptr) == ncclSuccess, "split");
  log.comm("split", most.comm, joins ? most.rank : -1, joins ? most.size : -1, ncclSuccess);
  expect((most.comm != nullptr) == joins, "a rank without color");
  if (joins) {
    use(most);
    end(most);
  }

  // Inside a group call the handle appears when the group ends.
  Member grouped{nullptr, "grouped", world.rank, size};
  group_start();
  log.comm("split", nullptr, -1, -1, ncclInProgress);
  expect(ncclCommSplit(world.comm, 1, world.rank, &grouped.comm, nullptr) == ncclSuccess, "split in a group");
  expect(grouped.comm == nullptr, "the handle comes later");
  expect(group_end() == ncclSuccess, "end of a group with a split");
  log.comm("split", grouped.comm, grouped.rank, grouped.size, ncclSuccess);
  use(grouped);
  end(grouped);

  // Every rank but the first.
  if (size > 2 && world.rank != 0) {
    Member rest{nullptr, "rest", world.rank - 1, size - 1};
    int first = 0;
    log.comm("shrink", nullptr, -1, -1, ncclInProgress);
    expect(ncclCommShrink(world.comm, &first, 1, &rest.comm, nullptr, NCCL_SHRINK_DEFAULT) == ncclSuccess, "shrink");
    log.comm("shrink", rest.comm, rest.rank, rest.size, ncclSuccess);
    use(rest);
    end(rest);
  }

  // Non-blocking, from several ids, and a non-blocking split of it.
  Member second{nullptr, "second", rank, size};
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclUniqueId ids[] = {second_id};
  log.comm("init", nullptr, rank, size, ncclInProgress);
  const ncclResult_t begun = ncclCommInitRankScalable(&second.comm, size, rank, 1, ids, &config);
  log.comm("init", second.comm, rank, size, begun);
  expect(begun == ncclInProgress && wait_for(second.comm) == ncclSuccess, "non-blocking communicator");
  Member child{nullptr, "child of second", rank, size};
  log.comm("split", nullptr, -1, -1, ncclInProgress);
  expect(ncclCommSplit(second.comm, 0, 0, &child.comm, nullptr) == ncclInProgress, "non-blocking split");
  expect(wait_for(second.comm) == ncclSuccess, "end of a non-blocking split");
  log.comm("split", child.comm, child.rank, child.size, ncclSuccess);
  use(child);
  use(second);
  log.comm("revoke", child.comm, child.rank, child.size, ncclSuccess);
  expect(ncclCommRevoke(child.comm, NCCL_REVOKE_DEFAULT) == ncclSuccess, "revoke");
  log.comm("abort", child.comm, child.rank, child.size, ncclSuccess);
  expect(ncclCommAbort(child.comm) == ncclSuccess, "abort");
  end(second);

  // All communicators of one process.
  ncclComm_t clique[2] = {};
  expect(ncclCommInitAll(clique, 2, nullptr) == ncclSuccess, "clique");
  cudaSetDevice(rank);
  const std::string label = "clique of " + std::to_string(rank);
  for (int member = 0; member < 2; ++member) log.comm("init", clique[member], member, 2, ncclSuccess);
  group_start();
  for (int member = 0; member < 2; ++member) {
    void* buffer = member == 0 ? send : recv;
    log_call(ncclAllReduce(buffer, buffer, kCount, ncclUint8, ncclMin, clique[member], stream),
             {"all_reduce", "min", ncclUint8, kCount, kCount, -1, buffer, buffer}, {nullptr, label, member, 2});
  }
  expect(group_end() == ncclSuccess, "collective of a clique");
  for (int member = 0; member < 2; ++member) {
    log.comm("destroy", clique[member], member, 2, ncclSuccess);
    expect(ncclCommDestroy(clique[member]) == ncclSuccess, "end of a clique");
  }
}

void Job::use_mistakes(const Member& on) {
  expect(log_call(ncclBroadcast(send, recv, kCount, ncclFloat32, on.size, on.comm, stream),
                  {"broadcast", "-", ncclFloat32, 0, kCount, on.size, send, recv}, on) == ncclInvalidArgument,
         "a root that is no rank");
  const std::size_t differing = on.rank == 0 ? kCount : kCount / 2;
  expect(log_call(ncclAllReduce(send, recv, differing, ncclFloat32, ncclSum, on.comm, stream),
                  {"all_reduce", "sum", ncclFloat32, differing, differing, -1, send, recv}, on) == ncclInvalidArgument,
         "different counts on the ranks");
  group_start();
  log_call(ncclSend(send, kCount, ncclFloat32, -1, on.comm, stream),
           {"send", "-", ncclFloat32, kCount, 0, -1, send, nullptr}, on);
  expect(group_end() == ncclInvalidArgument, "a group with a refused member");
}

}  // namespace plumbline::nccl_job
