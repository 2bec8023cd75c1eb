// Patterns of dotted names, as templates have them: * stands for one part of a name or a piece of one, ** for any
// number of parts. What they stood for can be put into another pattern.
//
//   matches("layers.*.attn.**", "layers.3.attn.q.weight")
//   translated("layers.*.wq.weight", "model.layers.*.q_proj.weight", "layers.3.wq.weight")  //
//   model.layers.3.q_proj.weight
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plumbline::checks {

bool matches(std::string_view pattern, std::string_view name);

// The name that `to` gives, its stars filled in order with what those of `from` stand for; nothing where `from` does
// not match, or has other stars than `to`.
std::optional<std::string> translated(std::string_view from, std::string_view to, std::string_view name);

}  // namespace plumbline::checks
