// Sentences of check `hang` about ranks and operations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checks/hang_scene.hpp"

namespace plumbline::checks {

// "ranks 0,1 wait", with the verb that fits.
std::string with_verb(const std::vector<std::int32_t>& ranks, std::string_view one, std::string_view many);
// "all_reduce #3", "send #3 from rank 0 to rank 1".
std::string op_name(const OpenOp& op);
// "default_pg (ranks 0,1)".
std::string front_place(const GroupFront& front);
// "; rank 0 waits in it" and the like: what became of those that made the call, `guilty` left out.
std::string others_clause(const OpenOp& op, const std::vector<std::int32_t>& guilty);

// What a rank that is waited for is doing instead, and one that waits.
std::string guilty_line(const HangScene& scene, const OpenOp& op, const Party& party);
std::string waiting_line(const HangScene& scene, const Party& party);
// "wavefront of default_pg: rank 0 called #3, finished #2; rank 1 called and finished #2".
std::string wavefront_line(const GroupFront& front);
// "is at train.py:41 in main", with that verb: the line of the script by the rank's stack, else by the call that it is
// in; else "called last at …". Empty: not known.
std::string line_clause(const HangScene& scene, const Party& party, std::string_view verb);
std::string age_text(const HangScene& scene, const OpenOp& op);

}  // namespace plumbline::checks
