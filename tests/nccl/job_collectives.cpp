// Every collective, on every data type, with every operator.
#include "tests/nccl/job.hpp"

namespace plumbline::nccl_job {
namespace {

struct Operator {
  ncclRedOp_t op;
  const char* name;
};
constexpr Operator kOperators[] = {
    {ncclSum, "sum"}, {ncclProd, "prod"}, {ncclMax, "max"}, {ncclMin, "min"}, {ncclAvg, "avg"}};

double reduced(ncclRedOp_t op, int size, std::size_t at) {
  double result = pattern(0, at);
  for (int rank = 1; rank < size; ++rank) {
    const double value = pattern(rank, at);
    switch (op) {
      case ncclProd:
        result *= value;
        break;
      case ncclMax:
        result = value > result ? value : result;
        break;
      case ncclMin:
        result = value < result ? value : result;
        break;
      default:
        result += value;
    }
  }
  return op == ncclAvg ? result / size : result;
}

std::size_t bytes_of(ncclDataType_t datatype) { return make_element(datatype, 0).size; }

}  // namespace

void Job::use_operators(const Member& on) {
  for (const ncclDataType_t datatype : kAllTypes) {
    for (const auto& [op, name] : kOperators) {
      fill(on, datatype, kCount);
      expect(all_reduce(on, datatype, op, name) == ncclSuccess, "all-reduce");
      for (std::size_t at = 0; at < kCount; ++at) {
        expect(Elements(recv, datatype).equals(at, reduced(op, on.size, at)), std::string("all-reduce ") + name);
      }
      keep(recv, kCount * bytes_of(datatype));
    }
    // A sum in which each rank multiplies with a factor of its own.
    const Element factor = make_element(datatype, on.rank % 2 == 0 ? 2 : 1);
    ncclRedOp_t scaled{};
    void* scalar = const_cast<std::uint64_t*>(&factor.bits);
    expect(ncclRedOpCreatePreMulSum(&scaled, scalar, datatype, ncclScalarHostImmediate, on.comm) == ncclSuccess,
           "operator");
    fill(on, datatype, kCount);
    expect(all_reduce(on, datatype, scaled, "premul_sum") == ncclSuccess, "scaled all-reduce");
    for (std::size_t at = 0; at < kCount; ++at) {
      double sum = 0;
      for (int other = 0; other < on.size; ++other) sum += pattern(other, at) * (other % 2 == 0 ? 2 : 1);
      expect(Elements(recv, datatype).equals(at, sum), "scaled all-reduce");
    }
    expect(ncclRedOpDestroy(scaled, on.comm) == ncclSuccess, "operator's end");
  }
}

void Job::use_collectives(const Member& on) {
  const std::size_t whole = kCount * static_cast<std::size_t>(on.size);
  const ncclDataType_t type = ncclFloat32;
  const int root = on.size - 1;
  const bool is_root = on.rank == root;
  const Elements got(recv, type);
  const auto block = [&](int of, std::size_t at) { return static_cast<std::size_t>(of) * kCount + at; };
  const auto expect_each = [&](const char* what, std::size_t count, auto value) {
    for (std::size_t at = 0; at < count; ++at) expect(got.equals(at, value(at)), what);
    keep(recv, count * sizeof(float));
  };

  fill(on, type, whole);
  expect(log_call(ncclReduce(send, recv, kCount, type, ncclSum, root, on.comm, stream),
                  {"reduce", "sum", type, kCount, is_root ? kCount : 0, root, send, recv}, on) == ncclSuccess,
         "reduce");
  expect_each("reduce", kCount, [&](std::size_t at) { return is_root ? reduced(ncclSum, on.size, at) : 0; });

  fill(on, type, whole);
  expect(log_call(ncclBroadcast(send, recv, kCount, type, root, on.comm, stream),
                  {"broadcast", "-", type, is_root ? kCount : 0, kCount, root, send, recv}, on) == ncclSuccess,
         "broadcast");
  expect_each("broadcast", kCount, [&](std::size_t at) { return pattern(root, at); });

  // The older, in-place broadcast works on one buffer: back to the pattern of rank 0.
  Elements mine(recv, type);
  for (std::size_t at = 0; at < kCount; ++at) mine.set(at, pattern(on.rank, at));
  expect(log_call(ncclBcast(recv, kCount, type, 0, on.comm, stream),
                  {"broadcast", "-", type, on.rank == 0 ? kCount : 0, kCount, 0, recv, recv}, on) == ncclSuccess,
         "bcast");
  expect_each("bcast", kCount, [&](std::size_t at) { return pattern(0, at); });

  fill(on, type, whole);
  expect(log_call(ncclAllGather(send, recv, kCount, type, on.comm, stream),
                  {"all_gather", "-", type, kCount, whole, -1, send, recv}, on) == ncclSuccess,
         "all-gather");
  expect_each("all-gather", whole, [&](std::size_t at) { return pattern(static_cast<int>(at / kCount), at % kCount); });

  fill(on, type, whole);
  expect(log_call(ncclReduceScatter(send, recv, kCount, type, ncclMax, on.comm, stream),
                  {"reduce_scatter", "max", type, whole, kCount, -1, send, recv}, on) == ncclSuccess,
         "reduce-scatter");
  expect_each("reduce-scatter", kCount, [&](std::size_t at) { return reduced(ncclMax, on.size, block(on.rank, at)); });

  fill(on, type, whole);
  expect(log_call(ncclAlltoAll(send, recv, kCount, type, on.comm, stream),
                  {"all_to_all", "-", type, whole, whole, -1, send, recv}, on) == ncclSuccess,
         "all-to-all");
  expect_each("all-to-all", whole,
              [&](std::size_t at) { return pattern(static_cast<int>(at / kCount), block(on.rank, at % kCount)); });

  fill(on, type, whole);
  expect(log_call(ncclGather(send, recv, kCount, type, root, on.comm, stream),
                  {"gather", "-", type, kCount, is_root ? whole : 0, root, send, recv}, on) == ncclSuccess,
         "gather");
  expect_each("gather", whole,
              [&](std::size_t at) { return is_root ? pattern(static_cast<int>(at / kCount), at % kCount) : 0; });

  fill(on, type, whole);
  expect(log_call(ncclScatter(send, recv, kCount, type, root, on.comm, stream),
                  {"scatter", "-", type, is_root ? whole : 0, kCount, root, send, recv}, on) == ncclSuccess,
         "scatter");
  expect_each("scatter", kCount, [&](std::size_t at) { return pattern(root, block(on.rank, at)); });
}

void Job::use_messages(const Member& on) {
  const ncclDataType_t type = ncclBfloat16;
  const int next = (on.rank + 1) % on.size;
  const int previous = (on.rank + on.size - 1) % on.size;
  for (int round = 0; round < 3; ++round) {
    fill(on, type, kCount);
    group_start();
    if (round == 2) expect(ncclGroupStart() == ncclSuccess, "nested group");
    expect(log_call(ncclSend(send, kCount, type, next, on.comm, stream),
                    {"send", "-", type, kCount, 0, next, send, nullptr}, on) == ncclSuccess,
           "send");
    expect(log_call(ncclRecv(recv, kCount, type, previous, on.comm, stream),
                    {"recv", "-", type, 0, kCount, previous, nullptr, recv}, on) == ncclSuccess,
           "recv");
    if (round == 2) expect(ncclGroupEnd() == ncclSuccess, "end of the nested group");
    expect(group_end() == ncclSuccess, "end of a group of messages");
    for (std::size_t at = 0; at < kCount; ++at) {
      expect(Elements(recv, type).equals(at, pattern(previous, at)), "message");
    }
  }
}

}  // namespace plumbline::nccl_job
