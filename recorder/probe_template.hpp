// A template: where the probes of one framework sit, for what cannot be found by what it is. A TOML file.
//
//   framework = "transformers"
//   launch = "torchrun --nproc-per-node 8 train.py"     # for people
//   [probe.logits]
//   at = "module:lm_head"            # or function:package.module.name, operator:aten::name, or a list of these
//   what = "output"                  # or output.1, output.logits, input.0, input.labels
//   amount = "full"                  # as in PLUMBLINE_CAPTURE
//   [probe."head.hidden"]            # a fused head: also head.weight, head.bias, head.labels and what it gives
//   at = "function:package.module.FusedLoss.forward"
//   what = "input.hidden"
//   [replicas]
//   "**.layernorm.weight" = "tensor_parallel"           # parameters that are equal over the group of this description
//   [names]
//   "decoder.layers.*.linear_qkv.weight" = "model.layers.*.self_attn.qkv_proj.weight"   # as the reference calls them
//
// In patterns * stands for one part of a dotted name or a piece of one, ** for any number of parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plumbline::recorder {

enum class PlaceKind : std::uint8_t { kModule, kFunction, kOperator };
std::string_view place_kind_name(PlaceKind kind) noexcept;  // "module"

struct TemplateProbe {
  std::string probe;  // as docs/trace-format.md lists them, or activation.ANYTHING
  PlaceKind kind = PlaceKind::kModule;
  std::string target;    // module path pattern, function path or operator
  bool output = true;    // else an input
  std::string selector;  // number or name of an item, empty: the first tensor
  std::string amount;    // empty: the level's default
};

struct ProbeTemplate {
  std::string framework;
  std::string launch;
  std::vector<TemplateProbe> probes;
  std::vector<std::pair<std::string, std::string>> replicas;  // pattern, description of a group
  std::vector<std::pair<std::string, std::string>> names;     // pattern, name in the reference
};

// What was understood; each thing that was not is a sentence in `complaints`, and left out.
ProbeTemplate parse_template(std::string_view text, std::vector<std::string>& complaints);

// The same from a file; each complaint then names it.
ProbeTemplate read_template(const std::string& path, std::vector<std::string>& complaints);

// As one JSON object, for the glue in the job and for the trace.
std::string template_json(const ProbeTemplate& description);

// "sample:16+hash": the amounts that PLUMBLINE_CAPTURE knows, for one probe.
bool is_amount(std::string_view text) noexcept;

}  // namespace plumbline::recorder
