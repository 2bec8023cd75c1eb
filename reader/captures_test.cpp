#include "reader/captures.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

#include "reader/testing/records.hpp"
#include "recorder/capture_writer.hpp"

namespace plumbline::reader {
namespace {

using recorder::CaptureWriter;
using recorder::Dtype;
using testing::TempDir;

struct Tensor {
  std::string probe, name;
  std::int64_t step = 0;
  std::vector<float> values;
  std::uint32_t occurrence = 0;
};

recorder::Capture row_of(const Tensor& tensor, const std::uint64_t& extent) {
  recorder::Capture row{};
  row.probe = tensor.probe.c_str();
  row.name = tensor.name.c_str();
  row.step = tensor.step;
  row.occurrence = tensor.occurrence;
  row.dtype = Dtype::kFloat32;
  row.amount = CaptureAmount::kFull;
  row.shape = &extent;
  row.dimensions = 1;
  row.data = reinterpret_cast<const std::uint8_t*>(tensor.values.data());
  row.data_bytes = tensor.values.size() * sizeof(float);
  return row;
}

void write(CaptureWriter& writer, const Tensor& tensor) {
  const std::uint64_t extent = tensor.values.size();
  const auto error = writer.add(row_of(tensor, extent));
  ASSERT_FALSE(error) << *error;
}

std::string path_of(const TempDir& run, int rank) {
  std::filesystem::create_directories(run / "captures");
  return run / ("captures/rank" + std::to_string(rank) + ".plc");
}

recorder::Identity rank_of(int rank) {
  recorder::Identity identity;
  identity.rank = rank;
  return identity;
}

std::vector<float> floats_of(std::span<const std::uint8_t> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

TEST(RunCaptures, FindsByProbeStepNameAndRank) {
  const TempDir run;
  for (const int rank : {1, 0}) {
    CaptureWriter writer;
    ASSERT_FALSE(writer.create(path_of(run, rank), rank_of(rank), {}, recorder::Level::kWatch));
    write(writer, {"grad", "w", 0, {1.0F * static_cast<float>(rank), 2}});
    write(writer, {"grad", "b", 0, {3}});
    write(writer, {"grad", "w", 4, {5, 6}});
    write(writer, {"loss", "", 4, {7}, 1});
    ASSERT_FALSE(writer.finish());
  }
  Result<RunCaptures> captures = RunCaptures::open(run.path());
  ASSERT_TRUE(captures.ok()) << captures.status().message();
  EXPECT_EQ(captures->ranks(), (std::vector<int>{0, 1}));
  EXPECT_EQ(captures->steps(), (std::vector<std::int64_t>{0, 4}));
  EXPECT_EQ(captures->probes(), (std::vector<std::string>{"grad", "loss"}));
  EXPECT_EQ(captures->names("grad"), (std::vector<std::string>{"w", "b"}));
  EXPECT_EQ(captures->select("grad", 0).size(), 4u);
  const auto of_w = captures->select("grad", 0, "w");
  ASSERT_EQ(of_w.size(), 2u);
  EXPECT_EQ(of_w[1]->rank, 1);
  EXPECT_EQ(floats_of(captures->load(*of_w[1])), (std::vector<float>{1, 2}));
  const Capture* loss = captures->find("loss", 4, "", 0, 1);
  ASSERT_NE(loss, nullptr);
  EXPECT_EQ(floats_of(captures->load(*loss)), (std::vector<float>{7}));
  EXPECT_EQ(captures->find("loss", 4, "", 0, 0), nullptr);
  EXPECT_TRUE(captures->files()[0].clean_end());
}

TEST(RunCaptures, ARunWithoutCapturesIsEmpty) {
  const TempDir run;
  const Result<RunCaptures> captures = RunCaptures::open(run.path());
  ASSERT_TRUE(captures.ok());
  EXPECT_TRUE(captures->empty());
  EXPECT_FALSE(RunCaptures::open(run / "none").ok());
}

TEST(CaptureFile, PutsPartsTogether) {
  const TempDir run;
  Tensor large{"param.after", "embedding", 2, std::vector<float>((CaptureWriter::kPartBytes / sizeof(float)) * 2 + 10)};
  std::iota(large.values.begin(), large.values.end(), 0.0F);
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(path_of(run, 0), rank_of(0), {}, recorder::Level::kDiagnose));
  write(writer, {"grad", "w", 2, {1}});
  write(writer, large);
  write(writer, {"grad", "v", 2, {2}});
  ASSERT_FALSE(writer.finish());
  Result<CaptureFile> file = CaptureFile::open(writer.path());
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->captures().size(), 3u);
  const Capture& capture = file->captures()[1];
  EXPECT_EQ(capture.parts.size(), 3u);
  EXPECT_EQ(capture.captured(), large.values.size());
  EXPECT_EQ(floats_of(file->load(capture)), large.values);
  EXPECT_EQ(floats_of(file->load(file->captures()[2])), (std::vector<float>{2}));
}

// Where damage took the first part of a tensor, what is left of it is nobody's.
TEST(CaptureFile, TheRestOfALostTensorIsNotAddedToTheOneBefore) {
  const TempDir run;
  Tensor one{"param.after", "first", 2, std::vector<float>(CaptureWriter::kPartBytes / sizeof(float), 1.0F)};
  Tensor other{"param.after", "second", 2, std::vector<float>(CaptureWriter::kPartBytes / sizeof(float) * 2, 2.0F)};
  std::mt19937 random(1);
  for (float& value : other.values) value = static_cast<float>(random());
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(path_of(run, 0), rank_of(0), {}, recorder::Level::kDiagnose));
  for (int i = 0; i < 4; ++i) write(writer, one);  // fills a frame
  write(writer, other);
  ASSERT_FALSE(writer.finish());
  Result<CaptureFile> whole = CaptureFile::open(writer.path());
  ASSERT_TRUE(whole.ok());
  ASSERT_EQ(whole->captures().size(), 5u);
  std::fstream file(writer.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(whole->captures()[4].parts[0].frame_offset) + 1000);
  file.write("damage", 6);
  file.close();
  Result<CaptureFile> damaged = CaptureFile::open(writer.path());
  ASSERT_TRUE(damaged.ok());
  ASSERT_EQ(damaged->captures().size(), 4u);
  EXPECT_EQ(floats_of(damaged->load(damaged->captures()[3])), one.values);
  EXPECT_FALSE(damaged->damage().empty());
}

TEST(CaptureCursor, ReadsFromAnywhereToTheEndOfItsPart) {
  const TempDir run;
  constexpr std::size_t kPart = CaptureWriter::kPartBytes;
  Tensor large{"param.after", "embedding", 2, std::vector<float>((kPart / sizeof(float)) * 2 + 10)};
  std::iota(large.values.begin(), large.values.end(), 0.0F);
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(path_of(run, 0), rank_of(0), {}, recorder::Level::kDiagnose));
  write(writer, large);
  ASSERT_FALSE(writer.finish());
  Result<CaptureFile> file = CaptureFile::open(writer.path());
  ASSERT_TRUE(file.ok());
  CaptureCursor cursor = file->cursor(file->captures()[0]);
  EXPECT_EQ(floats_of(cursor.from(2 * kPart + 4)).front(), static_cast<float>(kPart / 2 + 1));
  EXPECT_EQ(cursor.from(2 * kPart).size(), 40u);
  EXPECT_EQ(floats_of(cursor.from(8)).front(), 2.0F) << "back again";
  EXPECT_EQ(cursor.from(8).size(), kPart - 8);
  EXPECT_EQ(cursor.from(kPart - 4).size(), 4u);
  EXPECT_TRUE(cursor.from(2 * kPart + 40).empty());
  ASSERT_EQ(truncate(writer.path().c_str(), static_cast<off_t>(kPart / 2)), 0);
  EXPECT_TRUE(cursor.from(kPart).empty()) << "the file has changed";
}

TEST(CaptureFile, KeepsWhereATensorBelongs) {
  const TempDir run;
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(path_of(run, 3), rank_of(3), {}, recorder::Level::kDiagnose));
  const std::vector<float> values(8, 1.0F);
  const std::uint64_t shape[] = {2, 4};
  const std::uint64_t whole[] = {8, 4};
  const std::uint64_t offset[] = {6, 0};
  const std::int32_t replicas[] = {3, 7};
  const std::uint64_t indices[] = {1, 5, 6};
  const recorder::CaptureStatistics statistics{8, 8.0, 2.8284, 1.0, 0, 0, 0};
  recorder::Capture row{};
  row.probe = "param.before";
  row.name = "layers.0.weight";
  row.dtype = Dtype::kFloat32;
  row.amount = CaptureAmount::kSample;
  row.shape = shape;
  row.dimensions = 2;
  row.global_shape = whole;
  row.offset = offset;
  row.global_dimensions = 2;
  row.replicas = replicas;
  row.replica_count = 2;
  row.placement = "(Shard(dim=0), Replicate())";
  row.indices = indices;
  row.index_count = 3;
  row.statistics = &statistics;
  row.hash_kind = recorder::CaptureHash::kXxh3;
  row.hash = 42;
  row.data = reinterpret_cast<const std::uint8_t*>(values.data());
  row.data_bytes = 3 * sizeof(float);
  ASSERT_FALSE(writer.add(row));
  ASSERT_FALSE(writer.flush());
  Result<CaptureFile> file = CaptureFile::open(writer.path());
  ASSERT_TRUE(file.ok());
  EXPECT_FALSE(file->clean_end());
  ASSERT_EQ(file->captures().size(), 1u);
  const Capture& capture = file->captures()[0];
  EXPECT_EQ(capture.rank, 3);
  EXPECT_FALSE(capture.whole());
  EXPECT_EQ(capture.global_shape, (std::vector<std::uint64_t>{8, 4}));
  EXPECT_EQ(capture.offset, (std::vector<std::uint64_t>{6, 0}));
  EXPECT_EQ(capture.replicas, (std::vector<std::int32_t>{3, 7}));
  EXPECT_EQ(capture.indices, (std::vector<std::uint64_t>{1, 5, 6}));
  EXPECT_EQ(capture.elements(), 8u);
  EXPECT_EQ(capture.captured(), 3u);
  ASSERT_TRUE(capture.statistics.has_value());
  EXPECT_EQ(capture.statistics->elements, 8u);
  EXPECT_EQ(capture.hash, 42u);
}

TEST(CaptureFile, ReadsWhatAKilledProcessLeft) {
  const TempDir run;
  CaptureWriter writer;
  ASSERT_FALSE(writer.create(path_of(run, 0), rank_of(0), {}, recorder::Level::kWatch));
  write(writer, {"grad", "w", 0, {1}});
  ASSERT_FALSE(writer.flush());
  write(writer, {"grad", "w", 1, {2}});
  ASSERT_FALSE(writer.flush());
  auto bytes = testing::read_file(writer.path());
  bytes.resize(bytes.size() - 5);
  testing::write_file(writer.path(), bytes);
  Result<CaptureFile> file = CaptureFile::open(writer.path());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->captures().size(), 1u);
  ASSERT_EQ(file->damage().size(), 1u);
  EXPECT_TRUE(file->damage()[0].cut_off);
}

TEST(CaptureFile, RefusesWhatIsNoCaptures) {
  const TempDir run;
  testing::write_file(run / "text.plc", std::string_view("no captures"));
  testing::write_file(run / "empty.plc", std::string_view(""));
  EXPECT_FALSE(CaptureFile::open(run / "text.plc").ok());
  EXPECT_EQ(CaptureFile::open(run / "empty.plc").status().code(), Code::kEmpty);
}

}  // namespace
}  // namespace plumbline::reader
