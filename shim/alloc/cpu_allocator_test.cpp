// The allocator's hooks in a process without torch: the fallbacks serve, and every event is recorded.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "recorder/recorder.hpp"
#include "shim/core/activation.hpp"

extern "C" void* _ZN3c109alloc_cpuEm(std::size_t size);
extern "C" void _ZN3c108free_cpuEPv(void* address);

namespace plumbline::shim {
namespace {

class CpuAllocator : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = testing::TempDir() + "allocator-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = new std::string(pattern);
    setenv("PLUMBLINE_RUN", (*directory_ + "/run").c_str(), 1);
  }
  static void TearDownTestSuite() {
    recorder::stop(0, 0);
    EXPECT_FALSE(std::filesystem::exists(*directory_ + "/run")) << "this process has not trained";
    std::filesystem::remove_all(*directory_);
    delete directory_;
  }

  static std::string* directory_;
};
std::string* CpuAllocator::directory_ = nullptr;

TEST_F(CpuAllocator, AFreeOpensNothing) {
  const Gate before = gate.load();
  void* block = std::malloc(16);
  _ZN3c108free_cpuEPv(block);
  _ZN3c108free_cpuEPv(nullptr);
  EXPECT_EQ(gate.load(), before);
}

TEST_F(CpuAllocator, WithoutC10TheBlocksAreAlignedAsItsAre) {
  for (std::size_t size : {1u, 63u, 64u, 4096u, 3u << 20}) {
    void* block = _ZN3c109alloc_cpuEm(size);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
    std::memset(block, 1, size);
    _ZN3c108free_cpuEPv(block);
  }
  EXPECT_EQ(_ZN3c109alloc_cpuEm(0), nullptr);
  EXPECT_TRUE(is_open());
  EXPECT_FALSE(recorder::promoted());
}

TEST_F(CpuAllocator, SixtyFourThreadsMayAllocateAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(64);
  for (int t = 0; t < 64; ++t) {
    threads.emplace_back([] {
      for (std::size_t i = 1; i <= 300; ++i) _ZN3c108free_cpuEPv(_ZN3c109alloc_cpuEm(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(recorder::active());
}

TEST_F(CpuAllocator, AForkedChildIsShutUntilItTrains) {
  _ZN3c108free_cpuEPv(_ZN3c109alloc_cpuEm(64));
  const pid_t child = fork();
  if (child == 0) {
    _ZN3c108free_cpuEPv(_ZN3c109alloc_cpuEm(64));
    const bool shut = gate.load() == Gate::kForked && !recorder::active();
    _exit(shut ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_open());
  EXPECT_TRUE(recorder::active());
}

}  // namespace
}  // namespace plumbline::shim
