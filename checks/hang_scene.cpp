#include "checks/hang_scene.hpp"

#include <algorithm>

namespace plumbline::checks {

Judgement judge(const HangScene& scene, const Root& root) {
  Judgement judgement{&root, &scene.graph.ops()[root.op], {}, {}, {}};
  if (root.kind == RootKind::kOpen) {
    judgement.blame = blame_for(scene.subject, *judgement.op);
    judgement.guilty = judgement.blame.guilty;
  } else {
    for (const Party& party : judgement.op->parties) {
      if (std::find(root.ranks.begin(), root.ranks.end(), party.rank) != root.ranks.end()) {
        judgement.guilty.push_back(&party);
      }
    }
  }
  for (const Party& party : judgement.op->parties) {
    const bool blocked = party.standing == Standing::kWaiting || party.standing == Standing::kFailed;
    const bool own = std::find(judgement.guilty.begin(), judgement.guilty.end(), &party) != judgement.guilty.end();
    if (blocked && !own) judgement.waiting.push_back(&party);
  }
  return judgement;
}

std::vector<std::int32_t> Judgement::ranks() const {
  return root->kind == RootKind::kCircle ? root->ranks : ranks_of(guilty);
}

bool Judgement::rests_on_absence() const {
  return root->kind == RootKind::kAbsent && std::all_of(guilty.begin(), guilty.end(), [](const Party* party) {
           return party->standing == Standing::kNoTrace;
         });
}

}  // namespace plumbline::checks
