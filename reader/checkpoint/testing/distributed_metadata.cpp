#include "reader/checkpoint/testing/distributed_metadata.hpp"

namespace plumbline::reader::testing {
namespace {

using namespace std::string_literals;

const std::string kModule = "torch.distributed.checkpoint.metadata";

std::string text(const std::string& value) {
  const auto size = static_cast<unsigned>(value.size());
  return "X"s + std::string(reinterpret_cast<const char*>(&size), sizeof(size)) + value;
}

std::string number(int value) { return "J"s + std::string(reinterpret_cast<const char*>(&value), sizeof(value)); }

std::string name(const std::string& module, const std::string& name) { return text(module) + text(name) + "\x93"; }

// An object of a class with a state of these keys and values.
std::string object(const std::string& module, const std::string& type, const std::string& members) {
  return name(module, type) + ")\x81}(" + members + "ub";
}

std::string torch_size(const std::vector<int>& numbers) {
  std::string items;
  for (const int one : numbers) items += number(one);
  return name("torch", "Size") + "(" + items + "t\x85R";
}

}  // namespace

std::string distributed_metadata(const std::vector<StoredTensor>& tensors, const std::vector<StoredPart>& parts) {
  std::string described;
  std::string paths;
  for (const StoredTensor& tensor : tensors) {
    described += text(tensor.name) + object(kModule, "TensorStorageMetadata", text("size") + torch_size(tensor.shape));
    std::string words;
    for (const std::string& word : tensor.path) words += text(word);
    paths += text(tensor.name) + "(" + words + "t";
  }
  std::string stored;
  for (const StoredPart& part : parts) {
    stored +=
        object(kModule, "MetadataIndex", text("fqn") + text(part.tensor) + text("offset") + torch_size(part.offset)) +
        object("torch.distributed.checkpoint.filesystem", "_StorageInfo",
               text("relative_path") + text(part.file) + text("offset") + number(part.at) + text("length") +
                   number(part.length));
  }
  return "\x80\x04"s +
         object(kModule, "Metadata",
                text("state_dict_metadata") + "}(" + described + "u" + text("planner_data") + "}(" + paths + "u" +
                    text("storage_data") + "}(" + stored + "u") +
         ".";
}

}  // namespace plumbline::reader::testing
