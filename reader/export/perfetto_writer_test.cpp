// The packets, byte by byte where it matters; tests/run_reader reads whole exports back.
#include "reader/export/perfetto_writer.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace plumbline::reader {
namespace {

using std::string_literals::operator""s;

// Splits a trace into its packets: each is field 1 with a length.
std::vector<std::string> packets(const std::string& bytes) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < bytes.size();) {
    EXPECT_EQ(bytes[at], '\x0a');
    ++at;
    std::size_t length = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes[at++]);
      length |= static_cast<std::size_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    all.push_back(bytes.substr(at, length));
    at += length;
  }
  return all;
}

bool holds(const std::string& packet, const std::string& part) { return packet.find(part) != std::string::npos; }

TEST(PerfettoWriterTest, TheFirstPacketClearsTheStateAndTheOthersNeedIt) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto process = writer.process(7, "rank 0", 0);
  writer.track(process, "steps");
  const auto all = packets(out.str());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].ends_with("\x50\x01\x68\x01"s)) << "sequence 1, state cleared";
  EXPECT_TRUE(all[1].ends_with("\x50\x01\x68\x02"s)) << "sequence 1, state needed";
}

TEST(PerfettoWriterTest, TracksHaveNumbersOfTheirOwn) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto process = writer.process(7, "rank 0", 0);
  const auto thread = writer.thread(process, 7, 8, "python");
  const auto counter = writer.counter(process, "bytes", CounterUnit::kBytes);
  EXPECT_NE(process, thread);
  EXPECT_NE(thread, counter);
  EXPECT_NE(process, 0U);
}

TEST(PerfettoWriterTest, ANameIsSentOnce) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto track = writer.track(writer.process(7, "rank 0", 0), "steps");
  for (std::uint64_t time = 10; time < 30; time += 10) {
    writer.begin(track, time, "forward", "range");
    writer.end(track, time + 5);
  }
  const auto all = packets(out.str());
  ASSERT_EQ(all.size(), 6U);
  EXPECT_TRUE(holds(all[2], "forward"));
  EXPECT_FALSE(holds(all[4], "forward"));
  EXPECT_FALSE(holds(all[3], "forward")) << "an end needs no name";
}

TEST(PerfettoWriterTest, AFlowIsEightBytes) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto track = writer.track(writer.process(7, "rank 0", 0), "calls");
  writer.begin(track, 10, "all_reduce", "collective", {}, 0x0102030405060708);
  EXPECT_TRUE(holds(packets(out.str()).back(), "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01"s));
}

TEST(PerfettoWriterTest, NoFlowIsNoField) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto track = writer.track(writer.process(7, "rank 0", 0), "calls");
  writer.begin(track, 10, "all_reduce", "collective");
  EXPECT_FALSE(holds(packets(out.str()).back(), "\xf9\x02"s));
}

TEST(PerfettoWriterTest, CountersMayGoBelowZero) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto track = writer.counter(writer.process(7, "rank 0", 0), "bytes", CounterUnit::kBytes);
  writer.value(track, 10, -1);
  EXPECT_TRUE(holds(packets(out.str()).back(), "\xf0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s));
}

TEST(PerfettoWriterTest, AnnotationsOfEachKind) {
  std::ostringstream out;
  PerfettoWriter writer(out);
  const auto track = writer.track(writer.process(7, "rank 0", 0), "calls");
  const std::vector<Annotation> annotations = {
      {"seq", std::int64_t{37}}, {"lr", 1.0}, {"dtype", std::string_view("float32")}};
  writer.instant(track, 10, "all_reduce", "collective", annotations);
  const std::string packet = packets(out.str()).back();
  EXPECT_TRUE(holds(packet, "\x08\x01\x20\x25"s)) << "first name, the integer 37";
  EXPECT_TRUE(holds(packet, "\x08\x02\x29\x00\x00\x00\x00\x00\x00\xf0\x3f"s)) << "second name, the double 1";
  EXPECT_TRUE(holds(packet,
                    "\x08\x03\x32\x07"
                    "float32"s))
      << "third name, a text";
}

}  // namespace
}  // namespace plumbline::reader
