#include "tests/nccl/job.hpp"

#include <cstdio>
#include <cstring>

namespace plumbline::nccl_job {

void Job::expect(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "rank %d: %s\n", rank, what.c_str());
}

void Job::keep(const void* bytes, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  results.insert(results.end(), first, first + count);
}

void Job::fill(const Member& on, ncclDataType_t datatype, std::size_t count) {
  Elements values(send, datatype);
  for (std::size_t at = 0; at < count; ++at) values.set(at, pattern(on.rank, at));
  std::memset(recv, 0, kCount * on.size * sizeof(double));
}

ncclResult_t Job::log_call(ncclResult_t code, const Moved& call, const Member& on) {
  Moved complete = call;
  complete.stream = stream;
  log.moved(complete, on.label, code, capturing);
  return code;
}

ncclResult_t Job::all_reduce(const Member& on, ncclDataType_t datatype, ncclRedOp_t op, const char* name) {
  return log_call(ncclAllReduce(send, recv, kCount, datatype, op, on.comm, stream),
                  {"all_reduce", name, datatype, kCount, kCount, -1, send, recv}, on);
}

void Job::group_start() {
  log.open_group();
  expect(ncclGroupStart() == ncclSuccess, "group start");
}

ncclResult_t Job::group_end() {
  const ncclResult_t code = ncclGroupEnd();
  log.close_group(code, capturing);
  return code;
}

}  // namespace plumbline::nccl_job
