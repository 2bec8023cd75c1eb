#include "shim/adapter_path.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "shim/adapter_stamp.hpp"
#include "shim/build_id.hpp"

namespace plumbline::shim {
namespace {

// A directory laid out like an installed torch, whose library is whatever the test wants.
class AdapterPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "torch-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    package_ = pattern;
    ASSERT_EQ(mkdir((package_ + "/lib").c_str(), 0755), 0);
  }

  void write(const std::string& name, const std::string& text) { std::ofstream(package_ + "/" + name) << text; }
  std::string library() const { return package_ + "/lib/libtorch_cpu.so"; }

  std::string package_;
};

TEST_F(AdapterPath, IsFiledUnderTorchAndTheSourcesOfTheAdapter) {
  EXPECT_EQ(adapter_path("/home/me/.cache/plumbline", {"2.11.0+cu130", "274ade0e6dcd7e46"}),
            std::string("/home/me/.cache/plumbline/adapter-2.11.0+cu130-274ade0e6dcd7e46-") + kAdapterStamp +
                "/libplumbline_torch.so");
  EXPECT_EQ(std::string_view(kAdapterStamp).size(), 12u);
}

TEST_F(AdapterPath, AVersionCannotLeaveTheCache) {
  EXPECT_TRUE(adapter_path("/cache", {"../../etc", "00"}).starts_with("/cache/adapter-.._.._etc-00-"));
}

TEST_F(AdapterPath, ReadsTheVersionThatTorchWrote) {
  write("version.py",
        "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda']\n__version__ = '2.11.0+cu130'\n"
        "debug = False\ncuda: Optional[str] = '13.0'\n");
  write("lib/libtorch_cpu.so", "not a library");
  EXPECT_EQ(torch_build_at(library()).version, "2.11.0+cu130");
}

TEST_F(AdapterPath, ADamagedVersionFileGivesNoVersion) {
  write("version.py", "__version__ = \n'2.0'\n");
  EXPECT_EQ(torch_build_at(library()).version, "");
  write("version.py", "__version__ = '2.0");
  EXPECT_EQ(torch_build_at(library()).version, "");
  write("version.py", "");
  EXPECT_EQ(torch_build_at(library()).version, "");
}

TEST_F(AdapterPath, TheIdentityIsTheStartOfTheBuildId) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::ofstream(library(), std::ios::binary) << self.rdbuf();
  const std::string build_id = build_id_of_file("/proc/self/exe");
  if (build_id.empty()) {
    EXPECT_EQ(torch_build_at(library()).identity.size(), 16u);
  } else {
    EXPECT_EQ(torch_build_at(library()).identity, build_id.substr(0, 16));
  }
}

TEST_F(AdapterPath, ALibraryWithoutBuildIdIsToldApartBySize) {
  write("lib/libtorch_cpu.so", "one");
  const std::string first = torch_build_at(library()).identity;
  write("lib/libtorch_cpu.so", "another");
  const std::string second = torch_build_at(library()).identity;
  EXPECT_EQ(first.size(), 16u);
  EXPECT_EQ(second.size(), 16u);
  EXPECT_NE(first, second);
}

TEST_F(AdapterPath, AMissingLibraryHasNoIdentity) { EXPECT_EQ(torch_build_at(library()).identity, ""); }

}  // namespace
}  // namespace plumbline::shim
