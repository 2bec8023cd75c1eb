// What the sentences of check `hang` are made of: the wait graph of one attempt, and what was judged of one of its
// roots.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/blame.hpp"
#include "checks/group_fronts.hpp"
#include "checks/patience.hpp"
#include "checks/subject.hpp"
#include "checks/wait_graph.hpp"

namespace plumbline::checks {

struct HangScene {
  const Subject& subject;
  Attempt attempt;
  const std::vector<GroupFront>& fronts;
  const WaitGraph& graph;
  Patience patience;

  const GroupFront& front_of(const OpenOp& op) const { return fronts[op.front]; }
  const reader::Trace& trace_of(const Party& party) const { return subject.run().traces()[party.trace]; }
};

struct Judgement {
  const Root* root = nullptr;
  const OpenOp* op = nullptr;
  Blame blame;                        // of an operation that all have joined
  std::vector<const Party*> guilty;   // parties of `op`
  std::vector<const Party*> waiting;  // parties of `op` that wait or failed, and are not guilty
  // Of a circle: who is in it, those first that came to their call by another way than in earlier steps.
  std::vector<const Party*> circle;
  std::vector<std::int32_t> strayed;

  // The guilty ranks; of a circle those that strayed, else all.
  std::vector<std::int32_t> ranks() const;
  bool has_strayed(std::int32_t rank) const;
  // None of the guilty left a trace: that they are missing is a conclusion from the others.
  bool rests_on_absence() const;
};

Judgement judge(const HangScene& scene, const Root& root);

}  // namespace plumbline::checks
