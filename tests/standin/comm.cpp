// Making communicators of the stand-in.
#include "tests/standin/comm.hpp"

#include <algorithm>
#include <memory>

ncclComm::~ncclComm() {
  if (background.joinable()) background.join();
  if (scratch != nullptr) cudaFree(scratch);
}

namespace plumbline::standin {
namespace {

constexpr std::size_t kScratchBytes = 4096;

bool wants_blocking(const ncclConfig_t* config, bool otherwise) {
  return config == nullptr || config->blocking == NCCL_CONFIG_UNDEF_INT ? otherwise : config->blocking != 0;
}

ncclResult_t furnish(ncclComm& comm, const std::string& path, int rank, int size) {
  comm.rank = rank;
  comm.size = size;
  cudaGetDevice(&comm.device);
  if (cudaMalloc(&comm.scratch, kScratchBytes) != cudaSuccess) return failed(ncclUnhandledCudaError, "no memory");
  return comm.room.enter(path, rank, size);
}

// Makes the member `rank` of `size` of a child, whose handle appears when it is complete.
ncclResult_t make_child(ncclComm& parent, const std::string& path, int rank, int size, ncclComm** place,
                        const ncclConfig_t* config) {
  auto child = std::make_unique<ncclComm>();
  child->blocking = wants_blocking(config, parent.blocking);
  const ncclResult_t code = furnish(*child, path, rank, size);
  if (code == ncclSuccess) *place = child.release();
  return code;
}

}  // namespace

ncclResult_t make_comm(ncclComm** place, const std::string& path, int rank, int size, const ncclConfig_t* config) {
  if (place == nullptr || rank < 0 || rank >= size || size > kMostRanks) {
    return failed(ncclInvalidArgument, "rank or size is out of range");
  }
  auto* comm = new ncclComm;
  comm->blocking = wants_blocking(config, true);
  comm->rank = rank;
  comm->size = size;
  *place = comm;
  return submit_job(comm->blocking ? nullptr : comm, [=] { return furnish(*comm, path, rank, size); });
}

ncclResult_t split(ncclComm& parent, int color, int key, ncclComm** place, const ncclConfig_t* config) {
  *place = nullptr;
  const unsigned ordinal = parent.children++;
  const bool has_config = config != nullptr;
  const ncclConfig_t settings = has_config ? *config : ncclConfig_t{};
  return submit_job(parent.blocking ? nullptr : &parent, [=, &parent] {
    Announcement& mine = parent.room.announcement(parent.rank);
    mine = {static_cast<int>(What::kSplit), 0, 0, 0, ordinal, color, key};
    if (ncclResult_t code = parent.room.meet(); code != ncclSuccess) return code;
    std::vector<std::pair<int, int>> members;  // key, rank in the parent
    for (int rank = 0; rank < parent.size; ++rank) {
      const Announcement& other = parent.room.announcement(rank);
      if (other.color == color) members.emplace_back(other.key, rank);
    }
    if (ncclResult_t code = parent.room.meet(); code != ncclSuccess) return code;
    if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
    std::sort(members.begin(), members.end());
    const auto me = std::find(members.begin(), members.end(), std::pair(key, parent.rank));
    const std::string path = parent.room.path() + "." + std::to_string(ordinal) + "." + std::to_string(color);
    return make_child(parent, path, static_cast<int>(me - members.begin()), static_cast<int>(members.size()), place,
                      has_config ? &settings : nullptr);
  });
}

ncclResult_t shrink(ncclComm& parent, std::vector<int> excluded, ncclComm** place, const ncclConfig_t* config) {
  *place = nullptr;
  const auto is_out = [&](int rank) { return std::find(excluded.begin(), excluded.end(), rank) != excluded.end(); };
  if (excluded.empty() || is_out(parent.rank)) return failed(ncclInvalidArgument, "an excluded rank may not shrink");
  int rank = 0;
  int size = 0;
  for (int other = 0; other < parent.size; ++other) {
    if (is_out(other)) continue;
    if (other < parent.rank) ++rank;
    ++size;
  }
  const std::string path = parent.room.path() + ".shrunk" + std::to_string(parent.children++);
  const bool has_config = config != nullptr;
  const ncclConfig_t settings = has_config ? *config : ncclConfig_t{};
  return submit_job(parent.blocking ? nullptr : &parent, [=, &parent] {
    return make_child(parent, path, rank, size, place, has_config ? &settings : nullptr);
  });
}

}  // namespace plumbline::standin
