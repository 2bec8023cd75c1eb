#include "recorder/reported_variables.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::string_view kPrefixes[] = {
    "NCCL_",
    "TORCH_",
    "TORCHELASTIC_",
    "TORCHINDUCTOR_",
    "TORCHDYNAMO_",
    "PYTORCH_",
    "GLOO_",
    "CUDA_",
    "CUBLAS",
    "CUDNN_",
    "NVIDIA_",
    "OMP_",
    "MKL_",
    "KMP_",
    "GOMP_",
    "MASTER_",
    "TP_",
    "PLUMBLINE_",
    "OMPI_COMM_",
    "PMI_",
    "PMIX_RANK",
    "MV2_COMM",
    "UCX_",
    "FI_",
    "SLURM_JOB_ID",
    "SLURM_JOB_NAME",
    "SLURM_JOB_NODELIST",
    "SLURM_JOB_NUM_NODES",
    "SLURM_JOB_PARTITION",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_NODELIST",
    "SLURM_NNODES",
    "SLURM_NTASKS",
    "SLURM_PROCID",
    "SLURM_RESTART_COUNT",
    "SLURM_STEP_ID",
    "ACCELERATE_",
    "DS_",
    "HSA_",
    "HIP_",
    "ROCR_",
    "RCCL_",
    "HF_",
    "TRANSFORMERS_",
};
constexpr std::string_view kNames[] = {
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "ROLE_RANK",
    "ROLE_NAME",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_WORLD_SIZE",
    "ROLE_WORLD_SIZE",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "PYTHONUNBUFFERED",
    "MALLOC_CONF",
    "MALLOC_ARENA_MAX",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "TOKENIZERS_PARALLELISM",
};
constexpr std::string_view kSecretWords[] = {"KEY", "TOKEN", "SECRET", "PASS", "CRED", "AUTH"};

}  // namespace

bool is_reported_variable(std::string_view name) noexcept {
  for (const std::string_view word : kSecretWords) {
    if (name.find(word) != std::string_view::npos) return false;
  }
  if (name.find("SEED") != std::string_view::npos) return true;
  for (const std::string_view prefix : kPrefixes) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  for (const std::string_view known : kNames) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace plumbline::recorder
