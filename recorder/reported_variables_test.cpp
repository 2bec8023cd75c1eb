#include "recorder/reported_variables.hpp"

#include <gtest/gtest.h>

namespace plumbline::recorder {
namespace {

TEST(ReportedVariables, AreThoseThatSteerTraining) {
  for (const char* name : {"NCCL_DEBUG", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "GLOO_SOCKET_IFNAME",
                           "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "MASTER_ADDR", "PYTORCH_CUDA_ALLOC_CONF",
                           "TORCHELASTIC_RESTART_COUNT", "PLUMBLINE_DIR", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
                           "LD_PRELOAD", "RANK", "HF_HUB_OFFLINE", "PL_GLOBAL_SEED", "PYTHONHASHSEED"}) {
    EXPECT_TRUE(is_reported_variable(name)) << name;
  }
}

TEST(ReportedVariables, AreNothingElse) {
  for (const char* name :
       {"HOME", "USER", "AWS_REGION", "RANKING", "SLURM_JWT", "SLURM_JOB_USER", "", "SSH_AUTH_SOCK"}) {
    EXPECT_FALSE(is_reported_variable(name)) << name;
  }
}

TEST(ReportedVariables, AreNeverSecretsWhateverTheirPrefix) {
  for (const char* name : {"NCCL_API_KEY", "HF_TOKEN", "SEED_SECRET", "TORCH_HUB_TOKEN", "MASTER_PASSWORD",
                           "CUDA_CREDENTIALS", "PYTORCH_SECRET", "PLUMBLINE_AUTH"}) {
    EXPECT_FALSE(is_reported_variable(name)) << name;
  }
}

}  // namespace
}  // namespace plumbline::recorder
