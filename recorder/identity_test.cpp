#include "recorder/identity.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "recorder/testing/child.hpp"

namespace plumbline::recorder {
namespace {

constexpr const char* kVariables[] = {"RANK",
                                      "LOCAL_RANK",
                                      "WORLD_SIZE",
                                      "TORCHELASTIC_RESTART_COUNT",
                                      "SLURM_PROCID",
                                      "SLURM_LOCALID",
                                      "SLURM_NTASKS",
                                      "SLURM_RESTART_COUNT",
                                      "OMPI_COMM_WORLD_RANK",
                                      "OMPI_COMM_WORLD_SIZE",
                                      "OMPI_COMM_WORLD_LOCAL_RANK",
                                      "PMIX_RANK",
                                      "PMI_RANK",
                                      "PMI_SIZE"};

class IdentityTest : public ::testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : kVariables) unsetenv(name);
  }
};

TEST_F(IdentityTest, KnowsHostBootAndPid) {
  const Identity self = identify_process();
  EXPECT_FALSE(self.host.empty());
  EXPECT_EQ(self.boot_id.size(), 36u);
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(self.rank, -1);
  EXPECT_EQ(self.local_rank, -1);
  EXPECT_EQ(self.world_size, -1);
  EXPECT_EQ(self.attempt, 0);
}

TEST_F(IdentityTest, TorchrunComesBeforeSlurm) {
  setenv("SLURM_PROCID", "1", 1);
  setenv("SLURM_NTASKS", "2", 1);
  setenv("SLURM_LOCALID", "0", 1);
  EXPECT_EQ(identify_process().rank, 1);
  setenv("RANK", "5", 1);
  setenv("LOCAL_RANK", "3", 1);
  setenv("WORLD_SIZE", "16", 1);
  setenv("TORCHELASTIC_RESTART_COUNT", "2", 1);
  const Identity self = identify_process();
  EXPECT_EQ(self.rank, 5);
  EXPECT_EQ(self.local_rank, 3);
  EXPECT_EQ(self.world_size, 16);
  EXPECT_EQ(self.attempt, 2);
}

TEST_F(IdentityTest, Mpi) {
  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  const Identity self = identify_process();
  EXPECT_EQ(self.rank, 7);
  EXPECT_EQ(self.world_size, 8);
  EXPECT_EQ(self.local_rank, 1);
}

TEST_F(IdentityTest, WhatIsNoNumberIsNotSaid) {
  for (const char* text : {"", "x", "3x", "-1", "99999999999"}) {
    setenv("RANK", text, 1);
    EXPECT_EQ(identify_process().rank, -1) << text;
  }
}

TEST_F(IdentityTest, TheLaunchStampIsThatOfTheParentUnderALauncher) {
  const std::string own = launch_stamp();
  EXPECT_TRUE(own.ends_with("-" + std::to_string(getpid()))) << own;
  EXPECT_EQ(own.find('-'), 8u);
  EXPECT_EQ(own.find('-', 9), 15u);
  EXPECT_EQ(own, launch_stamp());
  // Two ranks of a launch agree on the stamp, and it is the one that their launcher would have for itself.
  for (int rank = 0; rank < 2; ++rank) {
    const int status = testing::run_in_child([&] {
      setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
      if (launch_stamp() != own) std::_Exit(1);
    });
    EXPECT_EQ(status, 0);
  }
  const int status = testing::run_in_child([&] {
    if (launch_stamp() == own) std::_Exit(1);
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace plumbline::recorder
