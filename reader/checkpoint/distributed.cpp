#include "reader/checkpoint/distributed.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/checkpoint/block_assembly.hpp"
#include "reader/checkpoint/safetensors.hpp"
#include "reader/checkpoint/torch_file.hpp"
#include "reader/import/pickle.hpp"
#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

using imports::PlainData;
using imports::shown;
using imports::Value;
using Numbers = std::vector<std::uint64_t>;

// A part of a tensor, or a whole other value, in a file.
struct Part {
  std::optional<Numbers> offset;  // in the tensor
  std::string file;
  std::uint64_t at = 0;  // in the file
  std::uint64_t length = 0;
};

class DistributedReader {
 public:
  DistributedReader(const PlainData& data, Checkpoint& to) : data_(data), to_(to) {}

  void read() {
    const Value root = data_.state(data_.root());
    find_parts(data_.member(root, "storage_data"));
    const Value paths = data_.member(root, "planner_data");
    const auto described = data_.items(data_.member(root, "state_dict_metadata"));
    for (std::size_t i = 0; i + 1 < described.size(); i += 2) {
      const std::string name(data_.text(described[i]));
      const auto parts = parts_.find(name);
      if (parts == parts_.end()) {
        problem(name, "is in no file");
      } else if (data_.class_name(described[i + 1]).ends_with("TensorStorageMetadata")) {
        read_tensor(name, data_.state(described[i + 1]), parts->second, section_of(name, paths));
      } else {
        read_value(name, parts->second.front());
      }
    }
  }

 private:
  void problem(const std::string& name, const std::string& what) {
    to_.problems.push_back({ProblemKind::kUnreadTensor, std::string(kDistributedMetadata), name,
                            to_.path + ": " + shown(name) + " " + what + "; copy or save the checkpoint again."});
  }

  std::optional<Numbers> numbers(Value list) const {
    if (!list.is_list()) return std::nullopt;
    Numbers result;
    for (const Value item : data_.items(list)) {
      const auto number = data_.integer(item);
      if (!number || *number < 0) return std::nullopt;
      result.push_back(static_cast<std::uint64_t>(*number));
    }
    return result;
  }

  void find_parts(Value storage) {
    const auto entries = data_.items(storage);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      const Value index = data_.state(entries[i]);
      const Value info = data_.state(entries[i + 1]);
      Part part;
      part.offset = numbers(data_.member(index, "offset"));
      part.file = data_.text(data_.member(info, "relative_path"));
      part.at = static_cast<std::uint64_t>(data_.integer_or(data_.member(info, "offset"), -1));
      part.length = static_cast<std::uint64_t>(data_.integer_or(data_.member(info, "length"), -1));
      parts_[std::string(data_.text(data_.member(index, "fqn")))].push_back(std::move(part));
    }
  }

  // Of "optimizer.state.0.step" with the path (optimizer, state, 0, step) the length of "optimizer.state.0.".
  std::size_t section_of(const std::string& name, Value paths) const {
    const auto path = data_.items(data_.member(paths, name));
    const std::string_view last = path.empty() ? std::string_view{} : data_.text(path.back());
    return path.size() > 1 && name.ends_with(last) ? name.size() - last.size() : 0;
  }

  // The file's number; nothing, and a problem, when it cannot be read. It is looked for beside the metadata only.
  std::optional<std::size_t> file_of(const std::string& name, const std::string& file) {
    const auto known = files_.find(file);
    if (known != files_.end()) return known->second;
    std::optional<std::size_t>& index = files_[file];
    if (file.empty() || file.find("..") != std::string::npos || file.front() == '/' || file.find('\0') != file.npos) {
      problem(name, "is placed in \"" + shown(file) + "\", which is no file of the checkpoint");
      return index;
    }
    Result<std::shared_ptr<const MappedFile>> mapped = MappedFile::open(to_.path + "/" + file);
    if (!mapped.ok()) {
      to_.problems.push_back({ProblemKind::kMissingShard, file, {}, mapped.status().message()});
      return index;
    }
    to_.files.push_back({file, std::move(*mapped)});
    index = to_.files.size() - 1;
    return index;
  }

  // Into `to`, which has the part's file as number `as`.
  bool read_piece(const std::string& name, const Part& part, std::size_t file, const std::string& prefix,
                  std::size_t as, Checkpoint& to) {
    const auto bytes = to_.files[file].mapped->bytes();
    if (part.at > bytes.size() || part.length > bytes.size() - part.at) {
      problem(name, "does not fit into " + part.file + ", which was cut off");
      return false;
    }
    const Status status =
        read_torch_file(to_.path + "/" + part.file, bytes.subspan(part.at, part.length), as, prefix, to);
    if (!status.ok()) problem(name, "cannot be read (" + status.message() + ")");
    return status.ok();
  }

  void read_value(const std::string& name, const Part& part) {
    if (const auto file = file_of(name, part.file)) read_piece(name, part, *file, name + ".", *file, to_);
  }

  // The tensor that a part holds; nothing, and a problem, when it holds none.
  std::optional<Tensor> tensor_of(const std::string& name, const Part& part) {
    const auto file = file_of(name, part.file);
    if (!file) return std::nullopt;
    Checkpoint piece;
    piece.files.push_back(to_.files[*file]);
    if (!read_piece(name, part, *file, {}, 0, piece)) return std::nullopt;
    if (piece.tensors.size() != 1) {
      problem(name, "is no tensor in its file");
      return std::nullopt;
    }
    to_.kept.insert(to_.kept.end(), piece.kept.begin(), piece.kept.end());
    piece.tensors.front().file = *file;
    return std::move(piece.tensors.front());
  }

  void read_tensor(const std::string& name, Value described, const std::vector<Part>& parts, std::size_t section) {
    const auto shape = numbers(data_.member(described, "size"));
    if (!shape) return problem(name, "has no size");
    // All of its files first: their size is what the whole may have.
    for (const Part& part : parts) {
      if (!file_of(name, part.file)) return;
    }
    BlockAssembly whole;
    Tensor tensor;
    for (const Part& part : parts) {
      std::optional<Tensor> piece = tensor_of(name, part);
      if (!piece) return;
      tensor = std::move(*piece);
      if (parts.size() == 1 && tensor.shape == *shape) return add(name, section, std::move(tensor));
      if (!whole.begun() && !whole.begin(*shape, size_of(tensor.dtype), all_bytes() - assembled_)) {
        return problem(name, "of shape " + shape_text(*shape) + " is larger than all files");
      }
      const Numbers offset = part.offset.value_or(Numbers(shape->size(), 0));
      if (!whole.add(tensor.shape, offset, tensor.bytes)) return problem(name, "has parts that do not fit together");
    }
    if (whole.absent() > 0) return problem(name, "lacks " + std::to_string(whole.absent()) + " of its elements");
    tensor.shape = *shape;
    tensor.bytes = *whole.bytes();
    assembled_ += tensor.bytes.size();
    to_.kept.push_back(whole.bytes());
    add(name, section, std::move(tensor));
  }

  void add(const std::string& name, std::size_t section, Tensor tensor) {
    tensor.name = name;
    tensor.section_size = section;
    tensor.storage = 0;
    to_.tensors.push_back(std::move(tensor));
  }

  std::uint64_t all_bytes() const {
    std::uint64_t sum = 0;
    for (const CheckpointFile& file : to_.files) sum += file.mapped->bytes().size();
    return sum;
  }

  const PlainData& data_;
  Checkpoint& to_;
  std::map<std::string, std::vector<Part>> parts_;  // by the tensor's name
  std::map<std::string, std::optional<std::size_t>> files_;
  std::uint64_t assembled_ = 0;  // bytes of tensors that were put together: never more than the files hold
};

}  // namespace

Status read_distributed(Checkpoint& to) {
  const std::string path = to.path + "/" + std::string(kDistributedMetadata);
  const Result<std::shared_ptr<const MappedFile>> mapped = MappedFile::open(path);
  if (!mapped.ok()) return mapped.status();
  const auto bytes = (*mapped)->bytes();
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const Result<PlainData> data = imports::read_pickle(path, {first, first + bytes.size()}, imports::Objects::kAsData);
  if (!data.ok()) return data.status();
  if (!data->class_name(data->root()).ends_with("checkpoint.metadata.Metadata")) {
    return {Code::kForeign, path + " is no metadata of torch.distributed.checkpoint."};
  }
  DistributedReader(*data, to).read();
  return {};
}

}  // namespace plumbline::reader
