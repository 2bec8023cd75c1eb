#include "tools/plumbline/torch_install.hpp"

#include <gtest/gtest.h>

#include "tools/plumbline/compile_command.hpp"
#include "tools/plumbline/scratch_directory.hpp"

namespace plumbline::tools {
namespace {

// A tree that looks like an installed torch, and a "python" that says where it is.
class FakeTorch : public testing::Test {
 protected:
  void SetUp() override {
    scratch.write("torch/version.py", "__version__ = '2.11.0+cu130'\n");
    scratch.write("torch/lib/libtorch_cpu.so", "library");
    scratch.write("torch/lib/libc10.so", "..._ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx11...");
    answer("13.0");
  }
  void answer(const std::string& cuda) {
    python = scratch.write_program("python", "#!/bin/sh\necho noise\nprintf 'plumbline-torch\\n" +
                                                 scratch.path("torch") + "\\n2.11.0+cu130\\n" + cuda + "\\n'\n");
  }
  void write_headers(const std::string& check) {
    scratch.write("torch/include/ATen/record_function.h", "");
    scratch.write("torch/include/ATen/ATen.h", check);
  }

  ScratchDirectory scratch;
  std::string python;
  TorchInstall torch;
  std::string why;
};

TEST_F(FakeTorch, IsFound) {
  ASSERT_TRUE(find_torch(python, torch, why)) << why;
  EXPECT_EQ(torch.directory, scratch.path("torch"));
  EXPECT_EQ(torch.version, "2.11.0+cu130");
  EXPECT_EQ(torch.cuda, "13.0");
  EXPECT_EQ(torch.build.version, "2.11.0+cu130");
  EXPECT_EQ(torch.build.identity.size(), 16u);
  EXPECT_TRUE(torch.new_abi);
}

TEST_F(FakeTorch, OfTheOldAbi) {
  scratch.write("torch/lib/libc10.so", std::string("\0_ZN3c106detail14torchCheckFailEPKcS2_jRKSs\0", 44));
  ASSERT_TRUE(find_torch(python, torch, why));
  EXPECT_FALSE(torch.new_abi);
}

TEST_F(FakeTorch, WithCudaHeadersInAWheel) {
  scratch.write("nvidia/cu13/include/cuda_runtime_api.h", "");
  ASSERT_TRUE(find_torch(python, torch, why));
  EXPECT_EQ(torch.cuda_headers, scratch.path("nvidia/cu13/include"));
}

TEST_F(FakeTorch, WithoutCudaNeedsNoCudaHeaders) {
  answer("");
  scratch.write("nvidia/cu13/include/cuda_runtime_api.h", "");
  ASSERT_TRUE(find_torch(python, torch, why));
  EXPECT_EQ(torch.cuda_headers, "");
  EXPECT_EQ(torch.nccl, "");
}

TEST_F(FakeTorch, WhoseLibraryIsMissing) {
  std::filesystem::remove(scratch.path("torch/lib/libtorch_cpu.so"));
  EXPECT_FALSE(find_torch(python, torch, why));
  EXPECT_NE(why.find("libtorch_cpu.so cannot be read"), std::string::npos);
}

TEST_F(FakeTorch, PythonsWithoutTorch) {
  EXPECT_FALSE(find_torch(scratch.write_program("bare", "#!/bin/sh\nexit 0\n"), torch, why));
  EXPECT_NE(why.find("has no torch"), std::string::npos);
  EXPECT_FALSE(find_torch(scratch.write_program("broken", "#!/bin/sh\nexit 7\n"), torch, why));
  EXPECT_NE(why.find("exit status 7"), std::string::npos);
  EXPECT_FALSE(find_torch(scratch.path("missing"), torch, why));
  EXPECT_EQ(why, "there is no program " + scratch.path("missing"));
}

TEST_F(FakeTorch, ItsHeadersChooseTheStandard) {
  Toolchain tools;
  ASSERT_TRUE(find_torch(python, torch, why));
  EXPECT_FALSE(find_toolchain(torch, tools, why));
  EXPECT_NE(why.find("no C++ headers"), std::string::npos);
  write_headers("#if __cplusplus < 201703L\n");
  ASSERT_TRUE(find_toolchain(torch, tools, why)) << why;
  EXPECT_EQ(tools.standard, "-std=c++17");
  write_headers("    (!defined(_MSVC_LANG) && __cplusplus < 202002L)\n");
  ASSERT_TRUE(find_toolchain(torch, tools, why));
  EXPECT_EQ(tools.standard, "-std=c++20");
}

TEST_F(FakeTorch, ItsCommandsNameNoPlaceOfTheLibraries) {
  ASSERT_TRUE(find_torch(python, torch, why));
  const Toolchain tools{"g++", "-std=c++17"};
  std::string line;
  for (const auto& word : link_command(tools, torch, "/w", {"/w/a.o"}, "/w/out.so")) line += word + " ";
  EXPECT_EQ(line.find("rpath"), std::string::npos);
  EXPECT_NE(line.find("-ltorch_cpu -lc10 "), std::string::npos);
}

}  // namespace
}  // namespace plumbline::tools
