#include "reader/export/proto_writer.hpp"

#include <bit>

namespace plumbline::reader {
namespace {

// Wire kinds of the encoding.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kLengthDelimited = 2;

}  // namespace

void ProtoWriter::varint(std::uint32_t field, std::uint64_t value) {
  key(field, kVarint);
  raw_varint(value);
}

void ProtoWriter::fixed64(std::uint32_t field, std::uint64_t value) {
  key(field, kFixed64);
  for (int shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<char>(value >> shift & 0xff));
}

void ProtoWriter::number(std::uint32_t field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }

void ProtoWriter::text(std::uint32_t field, std::string_view value) {
  key(field, kLengthDelimited);
  raw_varint(value.size());
  bytes_.append(value);
}

void ProtoWriter::key(std::uint32_t field, std::uint32_t wire_kind) {
  raw_varint(static_cast<std::uint64_t>(field) << 3 | wire_kind);
}

void ProtoWriter::raw_varint(std::uint64_t value) {
  while (value >= 0x80) {
    bytes_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes_.push_back(static_cast<char>(value));
}

}  // namespace plumbline::reader
