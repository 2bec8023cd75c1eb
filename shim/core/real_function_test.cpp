#include "shim/core/real_function.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>

namespace plumbline::shim {
namespace {

double fallback(double) { return -1.0; }

TEST(RealFunction, IsFoundInTheLibraryThatOwnsIt) {
  constinit static RealFunction<double(double)> real{{"floor", "libm.so.6", kHookC10d}, fallback};
  void* own = nullptr;
  EXPECT_EQ(real.get(&own)(2.5), 2.0);
}

TEST(RealFunction, IsFoundInTheLibraryOfTheCaller) {
  constinit static RealFunction<double(double)> real{{"floor", "libnowhere.so.1", kHookC10d}, fallback};
  EXPECT_EQ(real.get(reinterpret_cast<const void*>(static_cast<double (*)(double)>(&std::floor)))(2.5), 2.0);
}

TEST(RealFunction, FallsBackWhereNobodyDefinesIt) {
  constinit static RealFunction<double(double)> real{{"no_such_function", "libm.so.6", kHookC10d}, fallback};
  EXPECT_EQ(real.get(nullptr)(27.0), -1.0);
  EXPECT_EQ(real.get(nullptr)(27.0), -1.0);
}

// The name that this executable defines itself must not be taken for the real one, or a hook would call itself.
TEST(RealFunction, IsNeverOurOwnInterposer) {
  const RealFunctionName name{"_ZN3c109alloc_cpuEm", "libc.so.6", kHookC10d};
  EXPECT_EQ(find_real_function(name, reinterpret_cast<const void*>(&fallback)), nullptr);
}

}  // namespace
}  // namespace plumbline::shim
