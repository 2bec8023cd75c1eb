// A checkpoint as its readers left it: tensors by name with their bytes where they lie in the files, single values by
// name, the small JSON files beside them, and what was wrong with any of it.
//
//   Result<Checkpoint> checkpoint = open_checkpoint("/models/base");
//   if (!checkpoint.ok()) return complain(checkpoint.status().message());
//   if (const Tensor* head = checkpoint->find("lm_head.weight")) use(head->dtype, head->shape, head->bytes);
//   for (const Problem& problem : checkpoint->problems) complain(problem.sentence);
//
// Names of nested dictionaries are joined by dots: {"optimizer": {"state": {0: {"exp_avg": …}}}} has the tensor
// "optimizer.state.0.exp_avg", whose section is "optimizer.state.0.". Bytes are read when they are first looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reader/checkpoint/dtype.hpp"
#include "reader/checkpoint/mapped_file.hpp"
#include "reader/status.hpp"

namespace plumbline::reader {

// Of a tensor whose elements were not kept.
struct TensorDigest {
  enum class Kind : std::uint8_t { kXxh3, kTorchXor };  // tensor_digest.hpp
  Kind kind = Kind::kXxh3;
  std::uint64_t hash = 0;
  std::uint64_t nans = 0;  // as far as they were counted
  std::uint64_t zeros = 0;
};

struct Tensor {
  std::string name;
  std::size_t section_size = 0;  // of the name: the part that enclosing dictionaries gave it
  DType dtype = DType::kF32;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> bytes;    // row by row, without gaps
  std::size_t file = 0;                // index in Checkpoint::files
  std::uint64_t storage = 0;           // the same for tensors that were saved as one memory; 0: not known
  std::vector<std::uint64_t> indices;  // of a sample: places of the elements in `bytes`; empty: all elements
  std::optional<TensorDigest> digest;  // no elements at all: `bytes` is empty

  std::string_view section() const { return std::string_view(name).substr(0, section_size); }
  std::string_view key() const { return std::string_view(name).substr(section_size); }
  std::uint64_t elements() const { return bytes.size() / size_of(dtype); }
};

// None, a truth value, a whole number, a real one, or a text.
using Scalar = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct NamedValue {
  std::string name;
  Scalar value;
};

enum class ProblemKind : std::uint8_t {
  kDamagedFile,   // not used at all
  kMissingShard,  // the index names a file that is not there
  kNotInShard,    // the index says that a tensor is in a file that lacks it
  kWrongShard,    // it is in another file than the index says
  kTwice,         // in two files
  kNotIndexed,    // in a file, and not in the index
  kWrongTotal,    // the index says another size than that of all tensors
  kUnreadTensor,  // of a kind that is not read
};

struct Problem {
  ProblemKind kind = ProblemKind::kDamagedFile;
  std::string file;    // its name in the checkpoint
  std::string tensor;  // empty: the whole file
  std::string sentence;
};

struct CheckpointFile {
  std::string name;  // in the checkpoint
  std::shared_ptr<const MappedFile> mapped;
};

struct Checkpoint {
  std::string path;
  std::vector<CheckpointFile> files;
  std::vector<Tensor> tensors;     // by name; of two of one name the first
  std::vector<NamedValue> values;  // by name
  std::vector<Problem> problems;
  bool sharded = false;                           // its tensors are listed by an index
  std::vector<std::shared_ptr<const void>> kept;  // memory that tensors lie in, beside the files

  const Tensor* find(std::string_view name) const;
  const Scalar* value(std::string_view name) const;
  const CheckpointFile* file(std::string_view name) const;
  std::uint64_t total_bytes() const;
  // Brings tensors and values into order. Who adds some calls it once, at the end.
  void sort();
};

// "0.001", "true", "none", a text in quotes.
std::string scalar_text(const Scalar& value);

// A safetensors file, a file of torch.save, or a directory with such.
Result<Checkpoint> open_checkpoint(const std::string& path);

// Would open_checkpoint find something there? So that a command can tell a checkpoint from a run.
bool looks_like_checkpoint(const std::string& path);

}  // namespace plumbline::reader
