#include "tools/run_reader/memory_input.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "reader/file.hpp"

namespace plumbline::tools {
namespace {

using checks::Dimension;
using checks::RunDimensions;
using nlohmann::json;
using reader::Code;
using reader::Result;
using reader::Status;

constexpr std::uint64_t kMostConfig = 16 << 20;

struct Key {
  const char* name;
  std::initializer_list<const char*> keys;  // as families of models spell it, the first that is there wins
};

const std::array<Key, 10> kKeys = {{{"hidden", {"hidden_size", "n_embd", "d_model", "dim"}},
                                    {"heads", {"num_attention_heads", "n_head", "n_heads"}},
                                    {"kv_heads", {"num_key_value_heads", "n_kv_heads"}},
                                    {"head_dim", {"head_dim"}},
                                    {"intermediate", {"intermediate_size", "n_inner", "ffn_dim"}},
                                    {"moe_intermediate", {"moe_intermediate_size"}},
                                    {"vocabulary", {"vocab_size"}},
                                    {"experts", {"num_experts", "n_routed_experts", "num_local_experts"}},
                                    {"experts_per_token", {"num_experts_per_tok", "moe_topk"}},
                                    {"layers", {"num_hidden_layers", "n_layer", "n_layers"}}}};

std::optional<std::uint64_t> positive(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  const auto value = found->get<std::uint64_t>();
  return value > 0 ? std::optional(value) : std::nullopt;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "length@12/3" → name, step and rank.
struct Target {
  std::string name;
  std::int64_t step = -1;
  std::int32_t rank = -1;
};

std::optional<Target> parse_target(std::string_view text) {
  Target target;
  const std::size_t at = text.find('@');
  target.name = std::string(text.substr(0, at));
  if (target.name.empty()) return std::nullopt;
  if (at == std::string_view::npos) return target;
  const std::string_view place = text.substr(at + 1);
  const std::size_t slash = place.find('/');
  const auto step = number<std::int64_t>(place.substr(0, slash));
  if (!step || *step < 0) return std::nullopt;
  target.step = *step;
  if (slash == std::string_view::npos) return target;
  const auto rank = number<std::int32_t>(place.substr(slash + 1));
  if (!rank || *rank < 0) return std::nullopt;
  target.rank = *rank;
  return target;
}

void add(RunDimensions& dimensions, const Target& target, std::uint64_t value) {
  if (target.step < 0) return dimensions.fixed.push_back({target.name, value});
  const auto same = std::find_if(dimensions.shapes.begin(), dimensions.shapes.end(), [&](const checks::StepShape& one) {
    return one.step == target.step && one.rank == target.rank;
  });
  if (same != dimensions.shapes.end()) return same->values.push_back({target.name, value});
  dimensions.shapes.push_back({target.step, target.rank, {{target.name, value}}});
}

}  // namespace

Result<RunDimensions> config_dimensions(std::string_view text, const std::string& name) {
  const json whole = json::parse(text, nullptr, false);
  if (!whole.is_object()) return Status(Code::kForeign, name + " is not the JSON of a model's configuration.");
  // Models of several modalities keep the language model's part apart.
  const auto nested = whole.find("text_config");
  const json& object = nested != whole.end() && nested->is_object() ? *nested : whole;
  RunDimensions dimensions;
  for (const Key& one : kKeys) {
    for (const char* key : one.keys) {
      const auto value = positive(object, key);
      if (!value) continue;
      dimensions.fixed.push_back({one.name, *value});
      break;
    }
  }
  const auto hidden = checks::value_of(dimensions.fixed, "hidden");
  const auto heads = checks::value_of(dimensions.fixed, "heads");
  if (hidden && heads && !checks::value_of(dimensions.fixed, "head_dim") && *hidden % *heads == 0)
    dimensions.fixed.push_back({"head_dim", *hidden / *heads});
  if (dimensions.fixed.empty())
    return Status(Code::kForeign, name + " names no dimension of a model that is known here.");
  return dimensions;
}

Result<RunDimensions> parse_dimensions(std::string_view text) {
  RunDimensions dimensions;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    const std::size_t equals = part.find('=');
    const auto target = parse_target(part.substr(0, std::min(equals, part.size())));
    const auto value = equals == std::string_view::npos ? std::nullopt : number<std::uint64_t>(part.substr(equals + 1));
    if (!target || !value || *value == 0) {
      return Status(Code::kForeign, "--dims " + std::string(part) +
                                        ": give name=value, name@STEP=value or name@STEP/RANK=value, such as batch=8 "
                                        "or length@12=4096.");
    }
    add(dimensions, *target, *value);
    start = end + 1;
  }
  return dimensions;
}

Result<RunDimensions> run_dimensions(const std::string& config_path, const std::string& dims) {
  RunDimensions dimensions;
  if (!config_path.empty()) {
    const Result<reader::File> file = reader::File::open(config_path);
    if (!file.ok()) return file.status();
    if (file->size() > kMostConfig)
      return Status(Code::kForeign,
                    config_path + " is not the JSON of a model's configuration: it is larger than 16 MiB.");
    std::string text(file->size(), ' ');
    text.resize(file->read_at(0, text.data(), text.size()));
    Result<RunDimensions> config = config_dimensions(text, config_path);
    if (!config.ok()) return config;
    dimensions = std::move(*config);
  }
  Result<RunDimensions> given = parse_dimensions(dims);
  if (!given.ok()) return given;
  for (const Dimension& one : given->fixed) {
    std::erase_if(dimensions.fixed, [&](const Dimension& other) { return other.name == one.name; });
    dimensions.fixed.push_back(one);
  }
  dimensions.shapes = given->shapes;
  return dimensions;
}

}  // namespace plumbline::tools
