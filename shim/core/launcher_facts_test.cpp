#include "shim/core/launcher_facts.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "shim/core/process_files.hpp"

namespace plumbline::shim {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

TEST(LauncherVariables, TellWhatTheLauncherAdded) {
  const std::string_view theirs("HOME=/root\0NCCL_DEBUG=INFO\0", 27);
  EXPECT_EQ(launcher_variables(theirs, {"HOME=/root", "NCCL_DEBUG=INFO", "RANK=1", "MASTER_PORT=29500"}),
            (Facts{{"launcher.lacks", "MASTER_PORT,RANK"}}));
}

TEST(LauncherVariables, TellWhatTheLauncherHadOtherwise) {
  const std::string_view theirs("OMP_NUM_THREADS=8\0NCCL_DEBUG=\0CUDA_VISIBLE_DEVICES=0,1", 55);
  EXPECT_EQ(launcher_variables(theirs, {"OMP_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES=0"}),
            (Facts{{"launcher.env.CUDA_VISIBLE_DEVICES", "0,1"},
                   {"launcher.env.NCCL_DEBUG", ""},
                   {"launcher.env.OMP_NUM_THREADS", "8"},
                   {"launcher.lacks", ""}}));
}

TEST(LauncherVariables, AreNeverOthersThanReportedOnes) {
  EXPECT_EQ(launcher_variables(std::string_view("NCCL_API_KEY=x\0HOME=/a\0nonsense\0", 33), {"USER=me", "nonsense"}),
            (Facts{{"launcher.lacks", ""}}));
}

TEST(ProcessFiles, TellOfThisProcess) {
  EXPECT_NE(command_of("self").find("shim_test"), std::string::npos);
  EXPECT_EQ(link_of("self", "exe"), link_of(std::to_string(getpid()).c_str(), "exe"));
  EXPECT_NE(link_of("self", "cwd"), "");
  EXPECT_NE(environment_of("self").find("PATH="), std::string::npos);
}

TEST(ProcessFiles, TellNothingOfOneThatIsNotThere) {
  EXPECT_EQ(command_of("4194999"), "");
  EXPECT_EQ(link_of("4194999", "exe"), "");
  EXPECT_EQ(environment_of("4194999"), "");
}

}  // namespace
}  // namespace plumbline::shim
