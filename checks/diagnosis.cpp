#include "checks/diagnosis.hpp"

#include <algorithm>
#include <tuple>

#include "checks/check.hpp"

namespace plumbline::checks {
namespace {

bool overlap(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](std::int32_t rank) { return std::find(b.begin(), b.end(), rank) != b.end(); });
}

bool is_memory(std::string_view check) { return check == "memory"; }

class Arranger {
 public:
  explicit Arranger(Diagnosis& diagnosis) : diagnosis_(diagnosis) {
    for (std::size_t verdict = 0; verdict < diagnosis.verdicts.size(); ++verdict) {
      for (std::size_t finding = 0; finding < diagnosis.verdicts[verdict].findings.size(); ++finding) {
        all_.push_back({verdict, finding});
      }
    }
  }

  void run() {
    // What calls from unexpected lines led to settles that they were a fault.
    for (const FindingRef ref : all_) {
      if (check_of(ref) == "mismatch" && leads_to_failure(ref)) mutable_finding(ref).status = Status::kFail;
    }
    for (const FindingRef ref : all_) {
      if (cause_of(ref) == nullptr) diagnosis_.causes.push_back(ref);
    }
    std::stable_sort(diagnosis_.causes.begin(), diagnosis_.causes.end(),
                     [&](FindingRef a, FindingRef b) { return weight(a) < weight(b); });
    for (const FindingRef ref : all_) {
      if (cause_of(ref) == nullptr) continue;
      (first_cause(ref) == diagnosis_.causes.front() ? diagnosis_.consequences : diagnosis_.others).push_back(ref);
    }
    const auto by_time = [&](FindingRef a, FindingRef b) { return finding(a).time_ns < finding(b).time_ns; };
    std::stable_sort(diagnosis_.consequences.begin(), diagnosis_.consequences.end(), by_time);
  }

 private:
  const Finding& finding(FindingRef ref) const { return diagnosis_.finding(ref); }
  Finding& mutable_finding(FindingRef ref) { return diagnosis_.verdicts[ref.verdict].findings[ref.finding]; }
  std::string_view check_of(FindingRef ref) const { return diagnosis_.verdicts[ref.verdict].check; }

  // Does `effect` follow from `cause`?
  bool follows(FindingRef effect, FindingRef cause) const {
    if (effect == cause) return false;
    const Finding& e = finding(effect);
    const Finding& c = finding(cause);
    const std::string_view of = check_of(effect);
    const std::string_view from = check_of(cause);
    if (from == "mismatch" && (of == "hang" || of == "crash")) return follows_mismatch(e, c);
    if (from == "crash" && of == "hang") return !c.symptom && overlap(e.ranks, c.ranks);
    if (from == "hang" && of == "crash")
      return e.symptom || (!overlap(e.ranks, c.ranks) && overlap(e.ranks, c.affected));
    if (is_memory(from) && of == "crash") return c.status == Status::kFail && !e.symptom && overlap(e.ranks, c.ranks);
    return false;
  }

  // At the same call, or at a later one of the same group: from the first difference on nothing fits any more.
  static bool follows_mismatch(const Finding& effect, const Finding& mismatch) {
    const bool same_group = !effect.place.group.empty() && effect.place.group == mismatch.place.group &&
                            effect.place.group_ranks == mismatch.place.group_ranks;
    return same_group && mismatch.place.seq >= 0 && effect.place.seq >= mismatch.place.seq;
  }

  bool leads_to_failure(FindingRef cause) const {
    return std::any_of(all_.begin(), all_.end(), [&](FindingRef effect) {
      return finding(effect).status == Status::kFail && follows(effect, cause);
    });
  }

  const FindingRef* cause_of(FindingRef effect) const {
    const auto at = std::find_if(all_.begin(), all_.end(), [&](FindingRef cause) { return follows(effect, cause); });
    return at == all_.end() ? nullptr : &*at;
  }

  FindingRef first_cause(FindingRef ref) const {
    // A chain is at most as long as there are findings; two that each follow from the other end it as well.
    for (std::size_t step = 0; step < all_.size(); ++step) {
      const FindingRef* cause = cause_of(ref);
      if (cause == nullptr) break;
      ref = *cause;
    }
    return ref;
  }

  // Failures before open questions; what explains others, then what stopped the job, then what it merely suffers.
  std::tuple<int, int, int> weight(FindingRef ref) const {
    const bool explains =
        std::any_of(all_.begin(), all_.end(), [&](FindingRef effect) { return follows(effect, ref); });
    const std::string_view check = check_of(ref);
    int kind = 5;
    if (check == "crash") kind = finding(ref).symptom ? 4 : 0;
    if (is_memory(check)) kind = 1;
    if (check == "hang") kind = 2;
    if (check == "mismatch") kind = 3;
    return {finding(ref).status == Status::kFail ? 0 : 1, explains ? 0 : 1, kind};
  }

  Diagnosis& diagnosis_;
  std::vector<FindingRef> all_;
};

}  // namespace

Diagnosis arranged(std::vector<Verdict> verdicts) {
  Diagnosis diagnosis;
  diagnosis.verdicts = std::move(verdicts);
  Arranger(diagnosis).run();
  return diagnosis;
}

Diagnosis diagnose(const Subject& subject, const std::function<void(std::string_view)>& progress) {
  std::vector<Verdict> verdicts;
  for (const Check& check : all_checks()) {
    if (!applies(check, subject)) continue;
    if (progress) progress(check.name);
    verdicts.push_back(evaluate(check, subject));
  }
  return arranged(std::move(verdicts));
}

}  // namespace plumbline::checks
