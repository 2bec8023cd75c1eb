#include "reader/checkpoint/json_values.hpp"

#include <filesystem>
#include <memory>

#include "reader/checkpoint/value_walk.hpp"
#include "reader/import/byte_source.hpp"
#include "reader/import/json_document.hpp"

namespace plumbline::reader {
namespace {

constexpr std::size_t kLargest = std::size_t{4} << 20;

}  // namespace

Result<imports::PlainData> read_plain_json(const std::string& path) {
  Result<imports::ByteSource> source = imports::ByteSource::open(path);
  if (!source.ok()) return source.status();
  if (source->packed())
    return Status(Code::kForeign, path + " is packed with gzip, which nothing that loads it unpacks.");
  return imports::read_json_document(*source);
}

Status read_json_values(std::size_t file, Checkpoint& to) {
  const std::string name = to.files[file].name;
  const std::size_t size = to.files[file].mapped->bytes().size();
  if (name == "tokenizer.json" || name == "vocab.json" || size > kLargest) return {};
  const Result<imports::PlainData> data = read_plain_json(to.files[file].mapped->path());
  if (!data.ok()) return data.status();
  ValueWalk walk(
      *data, file, size, [](imports::Value, const std::string&) { return std::nullopt; }, to);
  walk.lay_out(data->root(), std::filesystem::path(name).stem().string() + '.');
  return {};
}

}  // namespace plumbline::reader
