#include "tests/nccl/call_log.hpp"

#include <cinttypes>
#include <cstdio>

namespace plumbline::nccl_job {
namespace {

template <class... Values>
std::string line(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

const char* outcome(int code, bool captured) {
  if (code != ncclSuccess && code != ncclInProgress) return "raised";
  return captured ? "captured" : "pending";
}

}  // namespace

void CallLog::open_group() {
  if (++depth_ > 1) return;
  collectives_.emplace_back();
  open_ = collectives_.size();
}

void CallLog::close_group(int code, bool captured) {
  if (--depth_ > 0) return;
  collectives_[open_ - 1] =
      line("collective group - -1 0 0 -1 %p %p %p - 0 %s %d", nullptr, nullptr, nullptr, outcome(code, captured), code);
  open_ = 0;
}

void CallLog::moved(const Moved& call, const std::string& comm, int code, bool captured) {
  collectives_.push_back(line("collective %s %s %d %" PRIu64 " %" PRIu64 " %d %p %p %p %s %zu %s %d", call.what.c_str(),
                              call.reduce.c_str(), call.datatype, call.in, call.out, call.peer, call.send, call.recv,
                              call.stream, comm.c_str(), open_, outcome(code, captured), code));
}

void CallLog::comm(const std::string& event, const void* handle, int rank, int size, int code) {
  others_.push_back(line("comm %s %p %d %d %d", event.c_str(), handle, rank, size, code));
}

void CallLog::allocated(const std::string& source, int device, const void* address, std::uint64_t size) {
  others_.push_back(line("alloc %s %d %p %" PRIu64, source.c_str(), device, address, size));
}

void CallLog::failed_to_allocate(const std::string& source, int device, std::uint64_t size) {
  others_.push_back(line("failed %s %d %" PRIu64, source.c_str(), device, size));
}

void CallLog::released(const std::string& source, int device, const void* address) {
  others_.push_back(line("free %s %d %p", source.c_str(), device, address));
}

bool CallLog::write(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  for (const auto* lines : {&collectives_, &others_}) {
    for (const std::string& text : *lines) std::fprintf(file, "%s\n", text.c_str());
  }
  return std::fclose(file) == 0;
}

}  // namespace plumbline::nccl_job
