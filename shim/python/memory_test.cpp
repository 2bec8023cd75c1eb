#include "shim/python/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

namespace plumbline::shim {
namespace {

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

TEST(GuardedMemory, GivesWhatIsThere) {
  const std::uint64_t value = 0x1234567890abcdef;
  EXPECT_EQ((load<std::uint64_t, GuardedMemory>(address_of(&value))), value);
  EXPECT_EQ((load<std::uint64_t, DirectMemory>(address_of(&value))), value);
}

TEST(GuardedMemory, SurvivesWhatIsNot) {
  EXPECT_EQ((load<std::uint64_t, GuardedMemory>(8, 7)), 7u);
  EXPECT_EQ((load<std::uint64_t, GuardedMemory>(~Address{0} - 3, 7)), 7u);
  EXPECT_EQ((load<std::uint64_t, GuardedMemory>(Address{1} << 60, 7)), 7u);
}

TEST(GuardedMemory, ReadsUpToAHole) {
  constexpr std::size_t kPage = 4096;
  void* const pages = mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  munmap(static_cast<char*>(pages) + 2 * kPage, kPage);
  std::string copy(3 * kPage, 'x');
  EXPECT_EQ(read_guarded(address_of(pages) + 100, copy.data(), copy.size()), 2 * kPage - 100);
  EXPECT_EQ(copy[2 * kPage - 101], '\0');
  EXPECT_EQ(copy[2 * kPage - 100], 'x');
  munmap(pages, 2 * kPage);
}

TEST(GuardedMemory, ReadsLongStretches) {
  const std::string text(1 << 20, 'a');
  std::string copy(text.size(), ' ');
  EXPECT_EQ(read_guarded(address_of(text.data()), copy.data(), copy.size()), text.size());
  EXPECT_EQ(copy, text);
}

}  // namespace
}  // namespace plumbline::shim
