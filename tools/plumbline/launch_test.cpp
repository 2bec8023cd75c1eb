#include "tools/plumbline/launch.hpp"

#include <gtest/gtest.h>

namespace plumbline::tools {
namespace {

TEST(WithPreload, KeepsWhatIsThere) {
  EXPECT_EQ(with_preload("", "/lib/ours.so"), "/lib/ours.so");
  EXPECT_EQ(with_preload("libjemalloc.so.2", "/lib/ours.so"), "libjemalloc.so.2:/lib/ours.so");
  EXPECT_EQ(with_preload("a.so b.so", "/lib/ours.so"), "a.so b.so:/lib/ours.so");
}

TEST(WithPreload, NamesTheObjectOnce) {
  EXPECT_EQ(with_preload("/lib/ours.so", "/lib/ours.so"), "/lib/ours.so");
  EXPECT_EQ(with_preload("a.so /lib/ours.so:b.so", "/lib/ours.so"), "a.so /lib/ours.so:b.so");
  EXPECT_EQ(with_preload("/lib/ours.so.1", "/lib/ours.so"), "/lib/ours.so.1:/lib/ours.so");
}

}  // namespace
}  // namespace plumbline::tools
