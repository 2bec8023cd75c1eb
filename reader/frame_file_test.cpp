#include "reader/frame_file.hpp"

#include <gtest/gtest.h>

#include <zstd.h>
#include <filesystem>
#include <fstream>

#include <random>

#include "reader/testing/records.hpp"

namespace plumbline::reader {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes frame(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  Bytes bytes(ZSTD_compressBound(text.size()));
  bytes.resize(ZSTD_compress2(context, bytes.data(), bytes.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return bytes;
}

Bytes skippable(std::uint32_t claimed, const Bytes& content) {
  Bytes bytes = {0x5E, 0x2A, 0x4D, 0x18};
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::uint8_t>(claimed >> shift));
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes seek_table() {
  const Bytes table = {0, 0, 0, 0, 0, 0xB1, 0xEA, 0x92, 0x8F};
  return skippable(static_cast<std::uint32_t>(table.size()), table);
}

Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

struct Walked {
  std::vector<std::string> texts;  // contents of the good frames; "<seek table>" for that one
  std::vector<Damage> damage;
};

Walked walk(const Bytes& bytes) {
  testing::TempDir directory;
  testing::write_file(directory / "f.plt", bytes);
  const FrameFile file(std::move(*File::open(directory / "f.plt")));
  FrameBuffer buffer;
  Walked walked;
  Frame found;
  std::optional<Damage> damage;
  FrameFile::Position at;
  bool more = true;
  while (more) {
    more = file.next(at, buffer, found, damage);
    if (damage) walked.damage.push_back(*damage);
    if (more)
      walked.texts.push_back(found.seek_table ? "<seek table>" : std::string(found.data.begin(), found.data.end()));
  }
  return walked;
}

using Texts = std::vector<std::string>;

TEST(FrameFileTest, GivesFramesInOrder) {
  const Walked walked = walk(join({frame("one"), frame("two"), frame(""), seek_table()}));
  EXPECT_EQ(walked.texts, (Texts{"one", "two", "", "<seek table>"}));
  EXPECT_TRUE(walked.damage.empty());
}

TEST(FrameFileTest, AnEmptyFileHasNone) { EXPECT_TRUE(walk({}).texts.empty()); }

TEST(FrameFileTest, LargeFramesAreReadWhole) {
  std::string noise(3 << 20, ' ');
  std::mt19937 random(1);
  for (char& c : noise) c = static_cast<char>(random());
  const Walked walked = walk(join({frame("a"), frame(noise), frame("b")}));
  ASSERT_EQ(walked.texts.size(), 3u);
  EXPECT_EQ(walked.texts[1], noise);
}

TEST(FrameFileTest, ADamagedFrameCostsOnlyItself) {
  Bytes damaged = frame("the second of three frames");
  damaged[damaged.size() / 2] ^= 0x10;
  const Walked walked = walk(join({frame("one"), damaged, frame("three")}));
  EXPECT_EQ(walked.texts, (Texts{"one", "three"}));
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_EQ(walked.damage[0].offset, frame("one").size());
  EXPECT_EQ(walked.damage[0].bytes, damaged.size());
  EXPECT_FALSE(walked.damage[0].cut_off);
  EXPECT_NE(walked.damage[0].what.find("f.plt"), std::string::npos);
}

TEST(FrameFileTest, ADamagedChecksumIsDamage) {
  Bytes damaged = frame("one");
  damaged.back() ^= 1;
  EXPECT_EQ(walk(join({damaged, frame("two")})).texts, (Texts{"two"}));
}

TEST(FrameFileTest, RubbishBeforeBetweenAndAfter) {
  const Bytes rubbish = {1, 2, 3, 4, 5, 0x28, 0xB5, 0x2F, 0xFD, 6, 7};
  const Walked walked = walk(join({rubbish, frame("one"), rubbish, frame("two"), rubbish}));
  EXPECT_EQ(walked.texts, (Texts{"one", "two"}));
  EXPECT_EQ(walked.damage.size(), 3u);
}

TEST(FrameFileTest, ACutOffFrameSaysSo) {
  Bytes last = frame("the last frame");
  last.resize(last.size() - 3);
  const Walked walked = walk(join({frame("one"), last}));
  EXPECT_EQ(walked.texts, (Texts{"one"}));
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_TRUE(walked.damage[0].cut_off);
}

TEST(FrameFileTest, AZeroTailIsDamageAndNoMore) {
  const Walked walked = walk(join({frame("one"), Bytes(5000, 0)}));
  EXPECT_EQ(walked.texts, (Texts{"one"}));
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_EQ(walked.damage[0].bytes, 5000u);
}

TEST(FrameFileTest, ASkippableFrameMustNotHideGoodOnes) {
  // Its length, damaged, leads into the middle of a frame that follows.
  const Walked walked = walk(join({skippable(9 + 5, Bytes(9, 0)), frame("one"), frame("two")}));
  EXPECT_EQ(walked.texts, (Texts{"one", "two"}));
  EXPECT_EQ(walked.damage.size(), 1u);
}

TEST(FrameFileTest, AFrameThatClaimsTheWorldIsDamage) {
  // A header with a content size of 2^40, and an empty last block.
  const Bytes bomb = {0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 0, 1, 0, 0, 0x01, 0x00, 0x00};
  EXPECT_EQ(walk(join({bomb, frame("one")})).texts, (Texts{"one"}));
}

TEST(FrameFileTest, ManyFalseStartsEndInTime) {
  // Starts of frames without end: each candidate would have to be followed to the end of the file.
  Bytes hostile;
  while (hostile.size() < (1 << 20)) {
    const Bytes start = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x58, 0x00, 0x00, 0x00};
    hostile.insert(hostile.end(), start.begin(), start.end());
  }
  EXPECT_TRUE(walk(hostile).texts.empty());
}

TEST(FrameFileTest, FramesBehindAHoleAreFoundAndTheHoleIsNotRead) {
  testing::TempDir directory;
  const Bytes first = frame("one");
  testing::write_file(directory / "f", first);
  std::filesystem::resize_file(directory / "f", std::uint64_t{1} << 40);
  {
    std::ofstream end(directory / "f", std::ios::binary | std::ios::app);
    const Bytes last = frame("two");
    end.write(reinterpret_cast<const char*>(last.data()), static_cast<std::streamsize>(last.size()));
  }
  const FrameFile file(std::move(*File::open(directory / "f")));
  FrameBuffer buffer;
  Frame found;
  std::optional<Damage> damage;
  FrameFile::Position at;
  ASSERT_TRUE(file.next(at, buffer, found, damage));
  ASSERT_TRUE(file.next(at, buffer, found, damage));
  EXPECT_EQ(std::string(found.data.begin(), found.data.end()), "two");
  EXPECT_EQ(damage->bytes, (std::uint64_t{1} << 40) - first.size());
  EXPECT_FALSE(file.next(at, buffer, found, damage));
}

TEST(FrameFileTest, AFrameIsFoundWhereverTheEndOfAWindowFalls) {
  for (std::size_t before = (64 << 10) - 6; before < (64 << 10) + 3; ++before) {
    EXPECT_EQ(walk(join({Bytes(before, 0x18), frame("one")})).texts, (Texts{"one"})) << before;
    EXPECT_EQ(walk(join({Bytes(before, 0), frame("one")})).texts, (Texts{"one"})) << before;
  }
}

TEST(FrameFileTest, LoadsAFrameAgain) {
  testing::TempDir directory;
  testing::write_file(directory / "f", join({frame("one"), frame("two")}));
  const FrameFile file(std::move(*File::open(directory / "f")));
  FrameBuffer buffer;
  Frame found;
  ASSERT_TRUE(file.load(frame("one").size(), buffer, found));
  EXPECT_EQ(std::string(found.data.begin(), found.data.end()), "two");
  EXPECT_FALSE(file.load(1, buffer, found));
}

}  // namespace
}  // namespace plumbline::reader
