#include "reader/checkpoint/shard_index.hpp"

#include "reader/checkpoint/json_values.hpp"
#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader {
namespace {

// Characters that no name of a file beside another has; a name would end at the second.
constexpr std::string_view kNoNames("/\0", 2);

}  // namespace

Result<ShardIndex> read_shard_index(const std::string& path) {
  const Result<imports::PlainData> data = read_plain_json(path);
  if (!data.ok()) return data.status();
  const imports::Value map = data->member(data->root(), "weight_map");
  if (!map.is_dict())
    return Status(Code::kForeign, path + " has no weight_map: it is no index of shards; save it again.");
  ShardIndex index;
  const auto entries = data->items(map);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    const std::string tensor(data->text(entries[i]));
    const std::string file(data->text(entries[i + 1]));
    // A shard lies beside its index: a name that leads elsewhere is not followed.
    if (file.empty() || file.find_first_of(kNoNames) != std::string::npos) {
      return Status(Code::kDamaged, path + " places " + imports::shown(tensor) + " in \"" + imports::shown(file) +
                                        "\", which is no file beside it; save it again.");
    }
    if (!index.file_of.emplace(tensor, file).second) {
      return Status(Code::kDamaged, path + " names " + imports::shown(tensor) + " twice; save it again.");
    }
  }
  const auto total = data->integer(data->member(data->member(data->root(), "metadata"), "total_size"));
  if (total && *total >= 0) index.total_size = static_cast<std::uint64_t>(*total);
  return index;
}

}  // namespace plumbline::reader
