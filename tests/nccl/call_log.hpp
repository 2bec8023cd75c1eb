// The job's own account of what it called, one line a call, in words that the trace is put into too: the independent
// count that a trace is compared with. It is kept by the job itself and knows nothing of Plumbline.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <string>
#include <vector>

namespace plumbline::nccl_job {

// A call that moves data, with what NCCL's documentation says about it.
struct Moved {
  std::string what;
  std::string reduce = "-";
  int datatype = -1;
  std::uint64_t in = 0;   // elements that this rank puts in
  std::uint64_t out = 0;  // elements that this rank gets out
  int peer = -1;
  const void* send = nullptr;
  const void* recv = nullptr;
  const void* stream = nullptr;
};

class CallLog {
 public:
  // Opens and closes a group call; the calls between are its members.
  void open_group();
  void close_group(int code, bool captured);

  // `comm` is a label that every rank uses for the same communicator.
  void moved(const Moved& call, const std::string& comm, int code, bool captured);

  void comm(const std::string& event, const void* handle, int rank, int size, int code);
  void allocated(const std::string& source, int device, const void* address, std::uint64_t size);
  void failed_to_allocate(const std::string& source, int device, std::uint64_t size);
  void released(const std::string& source, int device, const void* address);

  bool write(const std::string& path) const;

 private:
  std::vector<std::string> collectives_;
  std::vector<std::string> others_;
  std::size_t open_ = 0;  // number of the open group's line, counted from 1; 0 none
  int depth_ = 0;
};

}  // namespace plumbline::nccl_job
