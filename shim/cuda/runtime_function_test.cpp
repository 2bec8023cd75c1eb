#include "shim/cuda/runtime_function.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "shim/cuda/driver.hpp"

namespace plumbline::shim::cuda {
namespace {

// Addresses in the code of a library, as return addresses are: here the C library plays caller and runtime.
const void* site(int number) { return reinterpret_cast<const char*>(&::getppid) + number; }

void* address_of_getpid() { return reinterpret_cast<void*>(&::getpid); }

TEST(RuntimeFunctions, AreThoseOfTheCallersLibrary) {
  static constinit RuntimeFunction function{"getpid"};
  const Found found = function.get(site(0));
  EXPECT_EQ(found.pointer, address_of_getpid());
  EXPECT_FALSE(found.for_nccl);
}

TEST(RuntimeFunctions, AreFoundFromMoreSitesThanAreKept) {
  static constinit RuntimeFunction function{"getpid"};
  for (int round = 0; round < 2; ++round) {
    for (int number = 0; number < 40; ++number) EXPECT_EQ(function.get(site(number)).pointer, address_of_getpid());
  }
}

TEST(RuntimeFunctions, ThatNobodyHasAreNull) {
  static constinit RuntimeFunction function{"cudaNobodyHasThis"};
  EXPECT_EQ(function.get(site(0)).pointer, nullptr);
}

TEST(Driver, WithoutOneNothingCapturesAndNoDeviceIsCurrent) {
  EXPECT_FALSE(is_capturing(nullptr));
  EXPECT_FALSE(is_capturing(reinterpret_cast<void*>(0x1000)));
  EXPECT_EQ(current_device(), -1);
}

}  // namespace
}  // namespace plumbline::shim::cuda
