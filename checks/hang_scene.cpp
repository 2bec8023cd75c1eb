#include "checks/hang_scene.hpp"

#include <algorithm>

#include "checks/usual_path.hpp"

namespace plumbline::checks {
namespace {

// Larger circles have no single culprit.
constexpr std::size_t kMostInCircle = 64;

const Party* party_of(const OpenOp& op, std::int32_t rank) {
  const auto at =
      std::find_if(op.parties.begin(), op.parties.end(), [&](const Party& party) { return party.rank == rank; });
  return at == op.parties.end() ? nullptr : &*at;
}

// The operation of the circle that ranks which strayed are missing in.
const OpenOp* missed_by(const HangScene& scene, const Judgement& judgement) {
  for (const std::size_t index : judgement.root->ops) {
    const OpenOp& op = scene.graph.ops()[index];
    for (const std::int32_t rank : judgement.strayed) {
      const Party* party = party_of(op, rank);
      if (party != nullptr && party->standing == Standing::kAbsent) return &op;
    }
  }
  return judgement.op;
}

void look_around_circle(const HangScene& scene, Judgement& judgement) {
  for (const std::int32_t rank : judgement.root->ranks) {
    const OpenOp* op = scene.graph.blocked_in(rank);
    const Party* party = op == nullptr ? nullptr : party_of(*op, rank);
    if (party == nullptr) continue;
    judgement.circle.push_back(party);
    if (party->call == nullptr || judgement.root->ranks.size() > kMostInCircle) continue;
    if (path_to(scene.trace_of(*party), *party->call).habit == Habit::kBroken) judgement.strayed.push_back(rank);
  }
  // If all did, none of them is to blame more than another.
  if (judgement.strayed.size() >= judgement.circle.size()) judgement.strayed.clear();
  std::stable_partition(judgement.circle.begin(), judgement.circle.end(),
                        [&](const Party* party) { return judgement.has_strayed(party->rank); });
  judgement.op = missed_by(scene, judgement);
}

}  // namespace

Judgement judge(const HangScene& scene, const Root& root) {
  Judgement judgement;
  judgement.root = &root;
  judgement.op = &scene.graph.ops()[root.op];
  if (root.kind == RootKind::kCircle) look_around_circle(scene, judgement);
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
  if (root->kind != RootKind::kCircle) return ranks_of(guilty);
  return strayed.empty() ? root->ranks : strayed;
}

bool Judgement::has_strayed(std::int32_t rank) const {
  return std::find(strayed.begin(), strayed.end(), rank) != strayed.end();
}

bool Judgement::rests_on_absence() const {
  return root->kind == RootKind::kAbsent && std::all_of(guilty.begin(), guilty.end(), [](const Party* party) {
           return party->standing == Standing::kNoTrace;
         });
}

}  // namespace plumbline::checks
