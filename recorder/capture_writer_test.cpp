#include "recorder/capture_writer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "recorder/testing/child.hpp"

namespace plumbline::recorder {
namespace {

using testing::ScratchDirectory;

Capture floats(const char* name, const std::vector<float>& values, const std::uint64_t& extent) {
  Capture capture{};
  capture.probe = "grad";
  capture.name = name;
  capture.dtype = Dtype::kFloat32;
  capture.amount = CaptureAmount::kFull;
  capture.shape = &extent;
  capture.dimensions = 1;
  capture.data = reinterpret_cast<const std::uint8_t*>(values.data());
  capture.data_bytes = values.size() * sizeof(float);
  return capture;
}

TEST(CaptureWriter, AnyZstdReadsTheFile) {
  const ScratchDirectory scratch;
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(scratch / "a.plc", {}, {}, Level::kDiagnose));
  const std::vector<float> values(1000, 1.5F);
  const std::uint64_t extent = values.size();
  ASSERT_FALSE(writer.add(floats("w", values, extent)));
  ASSERT_FALSE(writer.finish());
  EXPECT_EQ(std::system(("zstd -qt " + writer.path()).c_str()), 0);
  EXPECT_TRUE(writer.add(floats("w", values, extent)).has_value()) << "after the end";
}

TEST(CaptureWriter, ATakenNameGetsANumber) {
  const ScratchDirectory scratch;
  std::ofstream(scratch / "a.plc") << "somebody else's";
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(scratch / "a.plc", {}, {}, Level::kWatch));
  EXPECT_EQ(writer.path(), scratch / "a.plc.1");
}

TEST(CaptureWriter, SaysWhatItCannotDo) {
  CaptureWriter writer;
  const auto error = writer.create("/nowhere/at/all.plc", {}, {}, Level::kWatch);
  ASSERT_TRUE(error.has_value());
  EXPECT_NE(error->find("/nowhere/at/all.plc"), std::string::npos);
  EXPECT_TRUE(writer.flush().has_value());
}

}  // namespace
}  // namespace plumbline::recorder
