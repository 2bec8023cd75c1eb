#include "shim/core/library_symbol.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace plumbline::shim {
namespace {

TEST(LibrarySymbol, OfALoadedLibrary) {
  EXPECT_TRUE(is_loaded("libc.so.6"));
  EXPECT_EQ(symbol_in_library("libc.so.6", "getpid"), reinterpret_cast<void*>(&::getpid));
  EXPECT_EQ(symbol_in_library("libc.so.6", "no_such_function"), nullptr);
}

TEST(LibrarySymbol, ALibraryIsNeverLoadedForIt) {
  EXPECT_FALSE(is_loaded("libncurses.so.6"));
  EXPECT_EQ(symbol_in_library("libncurses.so.6", "initscr"), nullptr);
  EXPECT_FALSE(is_loaded("libncurses.so.6"));
}

TEST(LibrarySymbol, ByAnAddressInTheLibrary) {
  EXPECT_NE(symbol_in_library_of(reinterpret_cast<const void*>(&::getpid), "getppid"), nullptr);
  int on_the_stack = 0;
  EXPECT_EQ(symbol_in_library_of(&on_the_stack, "getpid"), nullptr);
}

TEST(LibrarySymbol, OfALaterPreloadNeedsOne) {
  // This program is not preloaded, so nothing can come after it.
  ::setenv("LD_PRELOAD", " libnosuch.so:libc.so.6  libm.so.6 ", 1);
  EXPECT_EQ(symbol_in_later_preload("getpid"), nullptr);
  ::setenv("LD_PRELOAD", std::string(2000, 'x').c_str(), 1);
  EXPECT_EQ(symbol_in_later_preload("getpid"), nullptr);
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(symbol_in_later_preload("getpid"), nullptr);
}

}  // namespace
}  // namespace plumbline::shim
