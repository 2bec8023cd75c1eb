// Who this process is: host, boot, and its place in the job as launchers say it in the environment.
#pragma once

#include <cstdint>
#include <string>

namespace plumbline::recorder {

struct Identity {
  std::string host;
  std::string boot_id;
  std::uint32_t pid = 0;
  std::int32_t rank = -1;  // -1: the environment does not say
  std::int32_t local_rank = -1;
  std::int32_t world_size = -1;
  std::int32_t attempt = 0;  // how often the launcher has restarted the job
};

// Reads the variables of torchrun, then of Open MPI, MPICH, MVAPICH and PMIx, then of Slurm: within an allocation
// Slurm's are set for every process, so they count least.
Identity identify_process() noexcept;

// When this process began, in clock ticks since boot; 0 when /proc does not say. With host, boot and number it names
// one process, whatever program it runs.
std::uint64_t process_start_ticks();

// A stamp of the launch that all its ranks on a host compute alike: start time (UTC) and pid of the process that
// started them. That is the parent where LOCAL_RANK or a multiprocessing child shows it, else the process itself.
std::string launch_stamp();

}  // namespace plumbline::recorder
