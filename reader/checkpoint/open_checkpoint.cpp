// Which files of a path make the checkpoint.
#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <system_error>

#include "reader/checkpoint/checkpoint.hpp"
#include "reader/checkpoint/distributed.hpp"
#include "reader/checkpoint/json_values.hpp"
#include "reader/checkpoint/safetensors.hpp"
#include "reader/checkpoint/shard_index.hpp"
#include "reader/checkpoint/torch_file.hpp"
#include "reader/checkpoint/zip_directory.hpp"

namespace plumbline::reader {
namespace {

std::string sentence(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

namespace fs = std::filesystem;

constexpr std::string_view kSafetensors = ".safetensors";
constexpr std::string_view kIndex = ".index.json";

bool is_torch_name(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".pt" || extension == ".pth" || extension == ".bin" || extension == ".ckpt" ||
         extension == ".tar";
}

// Weights of a model lie at the top, whatever their file is called; states of optimizers and the like under its name.
bool holds_weights(std::string_view stem) {
  return stem.starts_with("pytorch_model") || stem.starts_with("model") || stem.starts_with("consolidated") ||
         stem.starts_with("adapter_model");
}

class Opener {
 public:
  explicit Opener(std::string path) { to_.path = std::move(path); }

  Result<Checkpoint> open() {
    std::error_code error;
    if (fs::is_directory(to_.path, error)) {
      if (Status status = open_directory(); !status.ok()) return status;
    } else if (Status status = open_single(); !status.ok()) {
      return status;
    }
    to_.sort();
    return std::move(to_);
  }

 private:
  Status open_single() {
    const auto index = map_file(to_.path, fs::path(to_.path).filename().string());
    if (!index.ok()) return index.status();
    const auto bytes = to_.files[*index].mapped->bytes();
    if (starts_as_zip(bytes)) return read_torch_file(to_.path, bytes, *index, {}, to_);
    if (is_torch_name(to_.path)) {
      return {Code::kForeign, to_.path +
                                  " is no zip file of torch.save: it was written by PyTorch before 1.6, or it is " +
                                  "damaged; load it and save it again with torch.save."};
    }
    return add_safetensors(*index);
  }

  Status open_directory() {
    std::set<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(to_.path, error), end; !error && at != end; at.increment(error)) {
      if (at->is_regular_file(error)) names.insert(at->path().filename().string());
    }
    if (error) {
      return {Code::kUnreadable, to_.path + " cannot be listed: " + error.message() + "."};
    }
    for (const std::string& name : names) {
      if (name.ends_with(std::string(kSafetensors) + std::string(kIndex))) add_index(name);
    }
    for (const std::string& name : names) {
      if (name.ends_with(kSafetensors) && to_.file(name) == nullptr) add_unindexed(name);
    }
    const bool weights = !to_.files.empty() || to_.sharded;
    for (const std::string& name : names) {
      if (!is_torch_name(name) || name == "training_args.bin") continue;
      const std::string stem = fs::path(name).stem().string();
      if (!holds_weights(stem)) {
        add_torch(name, stem + '.');
      } else if (!weights) {
        add_torch(name, {});
      }
    }
    if (names.count(std::string(kDistributedMetadata)) != 0) {
      const Status status = read_distributed(to_);
      if (!status.ok()) problem(ProblemKind::kDamagedFile, std::string(kDistributedMetadata), {}, status.message());
    }
    for (const std::string& name : names) {
      if (name.ends_with(".json") && !name.ends_with(kIndex)) add_json(name);
      if (!name.ends_with(".json") && is_tokenizer_name(name)) map_file(full(name), name);
    }
    if (!to_.tensors.empty() || !to_.values.empty() || !to_.problems.empty()) return {};
    return {Code::kNotFound, to_.path + " holds no checkpoint: no .safetensors file, none of torch.save (.pt, .pth, " +
                                 ".bin), and no config.json."};
  }

  static bool is_tokenizer_name(std::string_view name) {
    return name.ends_with(".model") || name == "merges.txt" || name == "vocab.txt" || name.ends_with(".jinja") ||
           name.ends_with(".tiktoken");
  }

  std::string full(const std::string& name) const { return to_.path + "/" + name; }

  Result<std::size_t> map_file(const std::string& path, const std::string& name) {
    Result<std::shared_ptr<const MappedFile>> mapped = MappedFile::open(path);
    if (!mapped.ok()) return mapped.status();
    to_.files.push_back({name, std::move(*mapped)});
    return to_.files.size() - 1;
  }

  void problem(ProblemKind kind, const std::string& file, const std::string& tensor, std::string sentence) {
    to_.problems.push_back({kind, file, tensor, std::move(sentence)});
  }

  Status add_safetensors(std::size_t file) {
    const MappedFile& mapped = *to_.files[file].mapped;
    Result<SafetensorsHeader> header = read_safetensors_header(mapped.path(), mapped.bytes());
    if (!header.ok()) return header.status();
    for (SafetensorsEntry& entry : header->tensors) {
      Tensor tensor;
      tensor.name = std::move(entry.name);
      tensor.dtype = entry.dtype;
      tensor.shape = std::move(entry.shape);
      tensor.bytes = mapped.bytes().subspan(header->data_offset + entry.begin, entry.end - entry.begin);
      tensor.file = file;
      to_.tensors.push_back(std::move(tensor));
    }
    return {};
  }

  void add_unindexed(const std::string& name) {
    const auto index = map_file(full(name), name);
    const Status status = index.ok() ? add_safetensors(*index) : index.status();
    if (!status.ok()) return problem(ProblemKind::kDamagedFile, name, {}, status.message());
    if (to_.sharded) {
      problem(ProblemKind::kNotIndexed, name, {},
              full(name) + " is not named by the index: its tensors are not loaded; save the checkpoint again.");
    }
  }

  void add_index(const std::string& name) {
    const Result<ShardIndex> index = read_shard_index(full(name));
    to_.sharded = true;
    if (!index.ok()) return problem(ProblemKind::kDamagedFile, name, {}, index.status().message());
    std::set<std::string> shards;
    for (const auto& [tensor, file] : index->file_of) shards.insert(file);
    std::set<std::string> unread;
    const std::size_t first = to_.tensors.size();
    for (const std::string& shard : shards) {
      const auto file = map_file(full(shard), shard);
      if (!file.ok() && file.status().code() == Code::kNotFound) {
        problem(ProblemKind::kMissingShard, shard, {},
                full(shard) + " is named by " + name + " and is not there: copy it too, or save the checkpoint again.");
        unread.insert(shard);
        continue;
      }
      const Status status = file.ok() ? add_safetensors(*file) : file.status();
      if (status.ok()) continue;
      problem(ProblemKind::kDamagedFile, shard, {}, status.message());
      unread.insert(shard);
    }
    compare_with_index(name, *index, unread, first);
  }

  void compare_with_index(const std::string& name, const ShardIndex& index, const std::set<std::string>& unread,
                          std::size_t first) {
    std::map<std::string_view, std::set<std::string_view>> found;  // files by tensor
    std::uint64_t total = 0;
    for (std::size_t i = first; i < to_.tensors.size(); ++i) {
      const Tensor& tensor = to_.tensors[i];
      found[tensor.name].insert(to_.files[tensor.file].name);
      total += tensor.bytes.size();
    }
    for (const auto& [tensor, file] : index.file_of) {
      const auto place = found.find(tensor);
      if (unread.count(file) != 0 || (place != found.end() && place->second.count(file) != 0)) continue;
      if (place == found.end()) {
        problem(
            ProblemKind::kNotInShard, file, tensor,
            sentence({full(file), " does not hold ", tensor, ", which ", name, " says: save the checkpoint again."}));
      } else {
        problem(ProblemKind::kWrongShard, file, tensor,
                sentence({tensor, " is in ", *place->second.begin(), ", and not in ", file, " as ", name,
                          " says: save the checkpoint again."}));
      }
    }
    for (const auto& [tensor, files] : found) {
      if (index.file_of.count(std::string(tensor)) != 0) continue;
      problem(ProblemKind::kNotIndexed, std::string(*files.begin()), std::string(tensor),
              std::string(tensor) + " is in " + std::string(*files.begin()) + " and not in " + name +
                  ": it is not loaded; save the checkpoint again.");
    }
    if (unread.empty() && index.total_size && *index.total_size != total) {
      problem(ProblemKind::kWrongTotal, name, {},
              full(name) + " says that the tensors have " + std::to_string(*index.total_size) + " bytes; they have " +
                  std::to_string(total) + ".");
    }
  }

  void add_torch(const std::string& name, const std::string& prefix) {
    const auto file = map_file(full(name), name);
    if (!file.ok()) return problem(ProblemKind::kDamagedFile, name, {}, file.status().message());
    const auto bytes = to_.files[*file].mapped->bytes();
    if (!starts_as_zip(bytes)) {
      problem(ProblemKind::kDamagedFile, name, {}, full(name) + " is no zip file of torch.save; save it again.");
      return;
    }
    const Status status = read_torch_file(full(name), bytes, *file, prefix, to_);
    if (!status.ok()) problem(ProblemKind::kDamagedFile, name, {}, status.message());
  }

  void add_json(const std::string& name) {
    const auto file = map_file(full(name), name);
    if (!file.ok()) return problem(ProblemKind::kDamagedFile, name, {}, file.status().message());
    const Status status = read_json_values(*file, to_);
    if (!status.ok()) problem(ProblemKind::kDamagedFile, name, {}, status.message());
  }

  Checkpoint to_;
};

}  // namespace

Result<Checkpoint> open_checkpoint(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return Status(Code::kNotFound, path + " is not there.");
  return Opener(path).open();
}

bool looks_like_checkpoint(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fs::is_regular_file(path, error) && (path.ends_with(kSafetensors) || is_torch_name(path));
  }
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const fs::path& file = at->path();
    if (file.extension() == kSafetensors || is_torch_name(file) || file.filename() == "config.json" ||
        file.filename() == kDistributedMetadata) {
      return true;
    }
  }
  return false;
}

}  // namespace plumbline::reader
