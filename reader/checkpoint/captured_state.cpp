#include "reader/checkpoint/captured_state.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "reader/checkpoint/block_assembly.hpp"
#include "reader/checkpoint/safetensors.hpp"

namespace plumbline::reader {
namespace {

using recorder::Dtype;

// Of a whole tensor: a capture says how large it is.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 38;

std::optional<DType> dtype_of(Dtype dtype) {
  constexpr std::array<std::pair<Dtype, DType>, 16> kTypes = {{{Dtype::kUint8, DType::kU8},
                                                               {Dtype::kInt8, DType::kI8},
                                                               {Dtype::kInt16, DType::kI16},
                                                               {Dtype::kInt32, DType::kI32},
                                                               {Dtype::kInt64, DType::kI64},
                                                               {Dtype::kUint16, DType::kU16},
                                                               {Dtype::kUint32, DType::kU32},
                                                               {Dtype::kUint64, DType::kU64},
                                                               {Dtype::kFloat16, DType::kF16},
                                                               {Dtype::kFloat32, DType::kF32},
                                                               {Dtype::kFloat64, DType::kF64},
                                                               {Dtype::kBfloat16, DType::kBF16},
                                                               {Dtype::kBool, DType::kBool},
                                                               {Dtype::kComplex64, DType::kC64},
                                                               {Dtype::kFloat8E4m3, DType::kF8E4M3},
                                                               {Dtype::kFloat8E5m2, DType::kF8E5M2}}};
  for (const auto& [from, to] : kTypes) {
    if (from == dtype) return to;
  }
  return std::nullopt;
}

// What a capture is called in the state, and the part of the name that is a section.
struct Placed {
  const Capture* capture;
  std::string name;
  std::size_t section;
};

class StateBuilder {
 public:
  StateBuilder(RunCaptures& captures, std::string source, const std::string& path)
      : captures_(captures), source_(std::move(source)), path_(path) {}

  // The last capture of a name counts.
  void add(const Placed& placed) {
    const Capture& capture = *placed.capture;
    const auto key = std::pair(capture.rank, placed.name);
    const auto found = latest_.find(key);
    if (found == latest_.end() || found->second.capture->time_ns <= capture.time_ns) latest_[key] = placed;
  }

  std::vector<CapturedState> states() {
    for (const auto& [key, placed] : latest_) {
      if (placed.capture->whole() || placed.capture->global_shape.empty()) {
        add_whole(placed);
      } else {
        add_block(placed);
      }
    }
    for (auto& [name, parts] : blocks_) finish(name, parts);
    std::vector<CapturedState> result;
    for (auto& [rank, state] : states_) {
      state.state.sort();
      result.push_back(std::move(state));
    }
    return result;
  }

 private:
  // A sharded tensor under construction.
  struct Assembly {
    Tensor tensor;
    BlockAssembly blocks;
  };

  CapturedState& state_of(int rank) {
    CapturedState& state = states_[rank];
    state.rank = rank;
    state.source = source_;
    state.state.path = path_;
    return state;
  }

  std::span<const std::byte> load(const Capture& capture) {
    const auto bytes = captures_.load(capture);
    return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
  }

  std::optional<Tensor> described(const Placed& placed, CapturedState& to) {
    const auto dtype = dtype_of(placed.capture->dtype);
    if (!dtype) {
      to.unknown.push_back(placed.name + " has an element type that is not compared");
      return std::nullopt;
    }
    Tensor tensor;
    tensor.name = placed.name;
    tensor.section_size = placed.section;
    tensor.dtype = *dtype;
    tensor.shape = placed.capture->shape;
    tensor.file = ~std::size_t{0};
    return tensor;
  }

  void add_whole(const Placed& placed) {
    const Capture& capture = *placed.capture;
    CapturedState& to = state_of(capture.rank);
    auto tensor = described(placed, to);
    if (!tensor) return;
    if (capture.amount == CaptureAmount::kNote) {
      if (capture.hash_kind == CaptureHash::kNone) {
        to.unknown.push_back(placed.name + " was captured without elements and without a hash");
        return;
      }
      TensorDigest digest{
          capture.hash_kind == CaptureHash::kXxh3 ? TensorDigest::Kind::kXxh3 : TensorDigest::Kind::kTorchXor,
          capture.hash, 0, 0};
      if (capture.statistics) digest = {digest.kind, digest.hash, capture.statistics->nans, capture.statistics->zeros};
      tensor->digest = digest;
    } else {
      const auto bytes = load(capture);
      const std::uint64_t wanted = capture.captured() * size_of(tensor->dtype);
      std::uint64_t elements = 0;
      const bool sample = capture.amount == CaptureAmount::kSample;
      if (!element_count(tensor->shape, elements) || bytes.size() != wanted ||
          (!sample && capture.captured() != elements)) {
        to.unknown.push_back(placed.name + " is damaged in the file of captures");
        return;
      }
      auto kept = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
      tensor->bytes = *kept;
      to.state.kept.push_back(std::move(kept));
      if (sample) tensor->indices = capture.indices;
    }
    to.state.tensors.push_back(std::move(*tensor));
  }

  void add_block(const Placed& placed) {
    const Capture& capture = *placed.capture;
    CapturedState& to = state_of(-1);
    if (capture.amount != CaptureAmount::kFull) {
      if (told_.insert(placed.name).second) {
        to.unknown.push_back(placed.name + " is sharded and was not captured in full");
      }
      return;
    }
    auto tensor = described(placed, to);
    if (!tensor) return;
    Assembly& all = blocks_[placed.name];
    if (!all.blocks.begun()) {
      if (!all.blocks.begin(capture.global_shape, size_of(tensor->dtype), kMostBytes)) return;
      all.tensor = std::move(*tensor);
      all.tensor.shape = capture.global_shape;
    }
    const bool fits = all.tensor.shape == capture.global_shape && dtype_of(capture.dtype) == all.tensor.dtype &&
                      all.blocks.add(capture.shape, capture.offset, load(capture));
    if (!fits) to.unknown.push_back(placed.name + " has blocks that do not fit together");
  }

  void finish(const std::string& name, Assembly& all) {
    CapturedState& to = state_of(-1);
    if (!all.blocks.begun()) return;
    if (const std::uint64_t absent = all.blocks.absent(); absent > 0) {
      to.unknown.push_back(name + ": of the sharded tensor " + std::to_string(absent) + " of " +
                           std::to_string(all.blocks.elements()) + " elements were captured by no rank");
      return;
    }
    all.tensor.bytes = *all.blocks.bytes();
    to.state.kept.push_back(all.blocks.bytes());
    to.state.tensors.push_back(std::move(all.tensor));
  }

  RunCaptures& captures_;
  std::string source_;
  std::string path_;
  std::map<std::pair<int, std::string>, Placed> latest_;
  std::map<std::string, Assembly> blocks_;
  std::set<std::string> told_;
  std::map<int, CapturedState> states_;
};

std::vector<const Capture*> all_of(const RunCaptures& captures, std::string_view probe) {
  std::vector<const Capture*> result = captures.select(probe, -1);
  for (const std::int64_t step : captures.steps()) {
    const auto some = captures.select(probe, step);
    result.insert(result.end(), some.begin(), some.end());
  }
  return result;
}

// A field of the JSON object that a capture carries, as it stands there: a text without its quotes, or a number.
std::string field_in(const Capture& capture, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  std::size_t at = capture.detail.find(key);
  if (at == std::string::npos) return {};
  at += key.size();
  const bool text = at < capture.detail.size() && capture.detail[at] == '"';
  if (text) ++at;
  std::size_t end = at;
  while (end < capture.detail.size() && capture.detail[end] != (text ? '"' : ',') && capture.detail[end] != '}') {
    end += text && capture.detail[end] == '\\' ? 2 : 1;
  }
  return capture.detail.substr(at, end - at);
}

std::string path_in(const Capture& capture) { return field_in(capture, "path"); }

// What captures of a load or a save are called in a state.
class StateNames {
 public:
  StateNames(const std::vector<const Capture*>& all, std::string prefix) : prefix_(std::move(prefix)) {
    for (const Capture* one : all) {
      if (is_parameter(*one)) continue;
      names_[{one->rank, numbered(*one)}].insert(one->name);
    }
  }

  Placed placed(const Capture& capture) const {
    if (is_parameter(capture)) return {&capture, capture.name, 0};
    const std::string section = owner(capture) + ".";
    return {&capture, section + key(capture), section.size()};
  }

 private:
  bool is_parameter(const Capture& capture) const { return capture.probe == prefix_ + "param"; }

  std::string key(const Capture& capture) const { return capture.probe.substr((prefix_ + "optimizer.").size()); }

  // A save has the names of the saved dictionary, "optimizer.state.3"; a load those of the parameters, with their
  // numbers beside them. FSDP1's flat parameters have several names each.
  std::string owner(const Capture& capture) const {
    if (prefix_ == "save.") return capture.name;
    const auto found = names_.find({capture.rank, numbered(capture)});
    const bool one = found != names_.end() && found->second.size() == 1;
    const std::string index = field_in(capture, "index");
    return owner_prefix(capture) + (one && !index.empty() ? index : capture.name);
  }

  static std::string owner_prefix(const Capture& capture) {
    const std::string optimizer = field_in(capture, "optimizer");
    return "optimizer" + (optimizer == "0" ? std::string() : optimizer) + ".state.";
  }

  std::string numbered(const Capture& capture) const {
    return owner_prefix(capture) + field_in(capture, "index") + "." + key(capture);
  }

  std::string prefix_;
  std::map<std::pair<int, std::string>, std::set<std::string>> names_;
};

std::string path_of(const RunCaptures& captures) {
  return captures.files().empty() ? std::string() : captures.files().front().path();
}

}  // namespace

std::vector<CapturedState> loaded_parameters(RunCaptures& captures) {
  const auto before = captures.select("param.before", 0);
  StateBuilder builder(captures, before.empty() ? "what the loads wrote" : "the parameters before the first step",
                       path_of(captures));
  for (const Capture* one : before.empty() ? all_of(captures, "load.param") : before) builder.add({one, one->name, 0});
  return builder.states();
}

std::vector<CapturedState> captured_states(RunCaptures& captures, std::string_view verb,
                                           const std::set<std::string>& paths) {
  const std::string prefix = std::string(verb) + ".";
  std::vector<const Capture*> all;
  for (const std::string& probe : captures.probes()) {
    if (probe == prefix + "param" || probe.starts_with(prefix + "optimizer.")) {
      const auto some = all_of(captures, probe);
      all.insert(all.end(), some.begin(), some.end());
    }
  }
  const bool by_path =
      std::any_of(all.begin(), all.end(), [&](const Capture* one) { return paths.contains(path_in(*one)); });
  if (by_path) std::erase_if(all, [&](const Capture* one) { return !paths.contains(path_in(*one)); });
  StateBuilder builder(captures, "what was captured of the last " + std::string(verb), path_of(captures));
  const StateNames names(all, prefix);
  for (const Capture* one : all) builder.add(names.placed(*one));
  return builder.states();
}

std::set<std::string> loaded_paths(const RunCaptures& captures) {
  std::set<std::string> paths;
  for (const Capture* note : all_of(captures, "load.note")) {
    if (std::string path = path_in(*note); !path.empty()) paths.insert(std::move(path));
  }
  return paths;
}

}  // namespace plumbline::reader
