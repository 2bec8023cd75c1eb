#include "reader/import/frames.hpp"

#include <gtest/gtest.h>

namespace plumbline::reader::imports {
namespace {

TEST(FramesTest, TheSiteIsTheInnermostLineOutsideOfLibraries) {
  const std::vector<ImportedFrame> frames = {
      {"all_reduce", "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", 3068, 0},
      {"wrapper", "/env/lib/python3.11/site-packages/torch/distributed/c10d_logger.py", 83, 0},
      {"last", "/home/user/job/fr_desync.py", 16, 0},
      {"<module>", "/home/user/job/fr_desync.py", 31, 0}};
  EXPECT_EQ(call_site(frames), "/home/user/job/fr_desync.py:16 in last");
  EXPECT_EQ(call_site({}), "");
  EXPECT_EQ(call_site({frames[0]}), "");
}

TEST(FramesTest, LibrariesAreKnownInEverySpelling) {
  for (const char* const path :
       {"torch/autograd/graph.py", "<frozen runpy>", "<string>", "none", "", "/opt/pytorch/torch/nn/modules/module.py",
        "/usr/lib/python3/dist-packages/torch/x.py"})
    EXPECT_TRUE(is_library_file(path)) << path;
  for (const char* const path : {"/home/user/torch_train/train.py", "train.py", "/site-packages/megatron/core/a.py"})
    EXPECT_FALSE(is_library_file(path)) << path;
}

TEST(FramesTest, FramesOfAProfileAreTakenApart) {
  const ImportedFrame frame = profiler_frame({"torch/optim/adam.py(139): _init_group", "none", 0, 0});
  EXPECT_EQ(frame.file, "torch/optim/adam.py");
  EXPECT_EQ(frame.line, 139U);
  EXPECT_EQ(frame.function, "_init_group");
  const ImportedFrame builtin = profiler_frame({"<built-in method randint>", "none", 0, 0});
  EXPECT_EQ(builtin.function, "<built-in method randint>");
  const ImportedFrame real = profiler_frame({"f", "/a/b.py", 3, 0});
  EXPECT_EQ(real.file, "/a/b.py");
}

}  // namespace
}  // namespace plumbline::reader::imports
