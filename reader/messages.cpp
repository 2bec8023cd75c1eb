#include "reader/messages.hpp"

#include <cstring>

#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

constexpr std::size_t kPrefixBytes = sizeof(flatbuffers::uoffset_t);
// A message nests three deep; the largest hold some thousand texts.
constexpr flatbuffers::uoffset_t kMaxDepth = 16;
constexpr flatbuffers::uoffset_t kMaxTables = 10'000'000;

bool verified(std::span<const std::uint8_t> bytes) {
  // Shorter ones make the check of the identifier itself read out of bounds.
  if (bytes.size() < kPrefixBytes + sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength) return false;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  return trace::VerifySizePrefixedMessageBuffer(verifier);
}

}  // namespace

const trace::Message* MessageWalk::next() {
  while (!data_.empty()) {
    flatbuffers::uoffset_t size = 0;
    if (data_.size() >= kPrefixBytes) std::memcpy(&size, data_.data(), kPrefixBytes);
    if (data_.size() < kPrefixBytes || size == 0 || size > data_.size() - kPrefixBytes) {
      counts_.stray_bytes += data_.size();
      data_ = {};
      return nullptr;
    }
    const std::span<const std::uint8_t> bytes = data_.first(kPrefixBytes + size);
    data_ = data_.subspan(bytes.size());
    bytes_ = bytes.size();
    ++index_;
    if (!verified(bytes)) {
      ++counts_.malformed;
      continue;
    }
    const trace::Message* message = trace::GetSizePrefixedMessage(bytes.data());
    if (message->body_type() > trace::Body::MAX || message->body_type() == trace::Body::NONE) {
      ++counts_.unknown;
      continue;
    }
    if (message->body() == nullptr) {
      ++counts_.malformed;
      continue;
    }
    ++counts_.good;
    return message;
  }
  return nullptr;
}

}  // namespace plumbline::reader
