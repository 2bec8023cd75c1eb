// The memory of places, over code objects made by hand in the layout of CPython 3.11.
#include "shim/python/call_sites.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace plumbline::shim::python {
namespace {

const Layout kLayout = *layout_of(3, 11);

using Block = std::vector<std::uint64_t>;

Address address_of(const Block& block) { return reinterpret_cast<Address>(block.data()); }

template <class T>
void put(Block& block, std::size_t offset, T value) {
  std::memcpy(reinterpret_cast<char*>(block.data()) + offset, &value, sizeof value);
}

Block text(std::string_view characters) {
  Block block(32 + characters.size() / 8);
  put<std::int64_t>(block, kVarSize, static_cast<std::int64_t>(characters.size()));
  put<std::uint32_t>(block, kTextState, 1 << 2 | 1 << 5 | 1 << 6);
  std::memcpy(reinterpret_cast<char*>(block.data()) + kLayout.text_ascii, characters.data(), characters.size());
  return block;
}

Block bytes(std::string_view content) {
  Block block(8 + content.size() / 8);
  put<std::int64_t>(block, kVarSize, static_cast<std::int64_t>(content.size()));
  std::memcpy(reinterpret_cast<char*>(block.data()) + kBytesData, content.data(), content.size());
  return block;
}

struct Code {
  Block file, function, lines, object;

  Code(std::string_view path, std::string_view name, std::string_view table, std::int32_t first_line)
      : file(text(path)), function(text(name)), lines(bytes(table)), object(64) {
    put(object, kLayout.code_filename, address_of(file));
    put(object, kLayout.code_name, address_of(function));
    put(object, kLayout.code_lines, address_of(lines));
    put(object, kLayout.code_first_line, first_line);
  }
};

class CallSitesTest : public ::testing::Test {
 protected:
  // The id that the place has, after `made_` was raised when it was not known.
  std::uint64_t find(const Code& code, Address address, std::int64_t offset) {
    return sites_.find(view_code(kLayout, address_of(code.object)), {address, offset}, [&] { return ++made_; });
  }
  CallSites sites_;
  std::uint64_t made_ = 0;
};

TEST_F(CallSitesTest, APlaceIsMadeOnce) {
  const Code code("/job/train.py", "main", "table", 10);
  EXPECT_EQ(find(code, 0x1000, 4), 1u);
  EXPECT_EQ(find(code, 0x1000, 4), 1u);
  EXPECT_EQ(find(code, 0x1000, 6), 2u);
  EXPECT_EQ(find(code, 0x1000, 6), 2u);
  EXPECT_EQ(made_, 2u);
}

TEST_F(CallSitesTest, AnotherCodeAtTheSameAddressIsAnotherPlace) {
  const Code first("/job/train.py", "main", "table", 10);
  EXPECT_EQ(find(first, 0x1000, 4), 1u);
  EXPECT_EQ(find(Code("/job/train.px", "main", "table", 10), 0x1000, 4), 2u);
  EXPECT_EQ(find(Code("/job/train.px", "mair", "table", 10), 0x1000, 4), 3u);
  EXPECT_EQ(find(Code("/job/train.px", "mair", "tablf", 10), 0x1000, 4), 4u);
  EXPECT_EQ(find(Code("/job/train.px", "mair", "tablf", 11), 0x1000, 4), 5u);
  EXPECT_EQ(find(Code("/job/train.px", "mair", "tablf!", 11), 0x1000, 4), 6u);
}

TEST_F(CallSitesTest, AnEqualCodeAtTheSameAddressIsTheSamePlace) {
  EXPECT_EQ(find(Code("/job/train.py", "main", "table", 10), 0x1000, 4), 1u);
  EXPECT_EQ(find(Code("/job/train.py", "main", "table", 10), 0x1000, 4), 1u);
}

TEST_F(CallSitesTest, ManyPlacesShareTheTable) {
  const Code code("/job/train.py", "main", "table", 10);
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_NE(find(code, 0x1000 + 16 * i, 4), 0u);
}

TEST_F(CallSitesTest, AnotherTraceKnowsNone) {
  const Code code("/job/train.py", "main", "table", 10);
  EXPECT_EQ(find(code, 0x1000, 4), 1u);
  sites_.use_for(0);
  EXPECT_EQ(find(code, 0x1000, 4), 1u);
  sites_.use_for(1);
  EXPECT_EQ(find(code, 0x1000, 4), 2u);
}

TEST(TorchsOwn, ItsPackageAndWhatItsCompilersWrite) {
  const auto own = [](std::string_view path) {
    const Block block = text(path);
    return is_torchs_own(text_view<DirectMemory>(kLayout, address_of(block)), "/lib/torch/");
  };
  EXPECT_TRUE(own("/lib/torch/distributed/distributed_c10d.py"));
  EXPECT_TRUE(own("<eval_with_key>.12"));
  EXPECT_TRUE(own("/tmp/torchinductor_user/ab/cab.py"));
  EXPECT_TRUE(own("<plumbline functions>"));  // stands in for one of torch's
  EXPECT_FALSE(own("/lib/torchvision/models/resnet.py"));
  EXPECT_FALSE(own("/job/train.py"));
  EXPECT_FALSE(own(""));
}

}  // namespace
}  // namespace plumbline::shim::python
