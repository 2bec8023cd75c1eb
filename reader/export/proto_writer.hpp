// Protocol-buffer wire encoding, as much of it as an exporter needs: fields of the four wire kinds, appended to a
// string.
//
//   ProtoWriter packet;
//   packet.varint(8, timestamp);
//   packet.message(11, event);  // another ProtoWriter
//   out << packet.bytes();
//
// Written out by hand because the schema in use is a dozen fields that never change their numbers; a generated class
// per packet would bring a run-time library into a binary that is meant to be copied about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plumbline::reader {

class ProtoWriter {
 public:
  // uint64, int64, int32, bool and enum fields. Negative numbers go in as two's complement, ten bytes, as protobuf has
  // it.
  void varint(std::uint32_t field, std::uint64_t value);
  void fixed64(std::uint32_t field, std::uint64_t value);
  void number(std::uint32_t field, double value);
  void text(std::uint32_t field, std::string_view value);
  void message(std::uint32_t field, const ProtoWriter& value) { text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  // Keeps the memory: one writer serves millions of packets.
  void clear() { bytes_.clear(); }

 private:
  void key(std::uint32_t field, std::uint32_t wire_kind);
  void raw_varint(std::uint64_t value);

  std::string bytes_;
};

}  // namespace plumbline::reader
