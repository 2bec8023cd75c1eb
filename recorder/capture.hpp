// A tensor as a probe saw it, on its way into the file of captures. Plain C types, since the torch adapter hands it
// over.
//
// A probe is a named place in a job. docs/trace-format.md lists the names and says what each captures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/event.hpp"

namespace plumbline::recorder {

enum class CaptureAmount : std::uint8_t {
  kNote = 0,    // no element: something that happened, or a tensor's shape, hash and statistics alone
  kFull = 1,    // all elements
  kSample = 2,  // those at `indices`
};

enum class CaptureHash : std::uint8_t {
  kNone = 0,
  kXxh3 = 1,       // XXH3-64 of all elements, row-major, little-endian
  kTorchHash = 2,  // torch.hash_tensor, mode 0
};

struct CaptureStatistics {
  std::uint64_t elements;
  double sum;   // of the finite elements
  double norm;  // square root of the sum of the finite elements' squares
  double absmax;
  std::uint64_t nans;
  std::uint64_t infs;
  std::uint64_t zeros;
};

// How much of a probe's tensors is to be kept; all zero: nothing.
struct CaptureWish {
  std::uint64_t full_bytes;  // a tensor of at most so many bytes is captured whole
  std::uint64_t samples;     // of a larger one so many elements, 0 none
  bool hash;
  bool statistics;
};

// Pointers are borrowed for the call; a null text is an empty one.
struct Capture {
  std::uint64_t time_ns;
  const char* probe;
  const char* name;
  std::int64_t step;  // -1: none
  std::uint32_t occurrence;
  std::uint64_t key;
  Dtype dtype;
  CaptureAmount amount;
  CaptureHash hash_kind;
  std::uint64_t hash;
  const CaptureStatistics* statistics;  // null: none
  const std::uint64_t* shape;
  std::size_t dimensions;
  const std::uint64_t* global_shape;  // null: the tensor is the whole
  const std::uint64_t* offset;        // as many as global_dimensions
  std::size_t global_dimensions;
  const std::int32_t* replicas;
  std::size_t replica_count;
  const char* placement;
  const char* device;
  const std::uint64_t* indices;  // of a sample
  std::size_t index_count;
  const std::uint8_t* data;  // elements in host memory, contiguous
  std::size_t data_bytes;
  const char* detail;           // JSON object
  const std::uint64_t* blocks;  // XXH3-64 of each block that a collective moves, in the order of its peers
  std::size_t block_count;
};

}  // namespace plumbline::recorder
