#include "checks/collective_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "checks/collective_findings.hpp"
#include "checks/collective_movement.hpp"
#include "checks/collective_reduction.hpp"
#include "checks/collective_trial.hpp"
#include "reader/names.hpp"
#include "recorder/operations.hpp"

namespace plumbline::checks {
namespace {

constexpr int kMostTries = 8;
constexpr std::size_t kMostGiven = 8;  // ranks whose parts are shown

bool was_changed(const CapturedCall& call) {
  return std::any_of(call.members.begin(), call.members.end(), [](const CallMember& one) { return one.changed; });
}

bool lacks_factor(const CapturedCall& call) {
  return call.reduce == recorder::ReduceOp::kPremulSum &&
         std::any_of(call.members.begin(), call.members.end(), [](const CallMember& one) { return !one.factor; });
}

// Why nothing was, where it is known.
std::string left_out(const Subject& subject) {
  for (const reader::Trace& trace : subject.run().traces()) {
    for (const reader::Group& group : trace.definitions().groups) {
      if (group.backend == "nccl") return ": those of nccl are looked at in a diagnosis alone";
    }
  }
  return "";
}

bool is_partial(const CapturedCall& call) {
  return std::any_of(call.members.begin(), call.members.end(), [](const CallMember& one) { return one.id == 0; });
}

class ResultCheck {
 public:
  ResultCheck(const Subject& subject, CollectiveMargins& margins) : subject_(subject), margins_(margins) {}

  Verdict run() {
    const CapturedCalls captured = captured_calls(subject_);
    for (const CapturedCall& call : captured.calls) {
      ++calls_;
      if (is_partial(call)) ++partial_;
      const std::size_t before = judged_;
      for (std::size_t tensor = 0; tensor < call.tensors; ++tensor) examine(call, tensor);
      if (judged_ != before) continue;
      ++(lacks_factor(call) ? unscaled_ : unjudged_);
    }
    return conclude(captured);
  }

 private:
  void examine(const CapturedCall& call, std::size_t tensor) {
    const CallBlocks blocks = load_blocks(subject_.captures(), call, tensor);
    if (blocks.dtype == recorder::Dtype::kUnknown) return;
    if (recorder::is_reduction(call.op)) {
      examine_reduction(call, tensor, blocks);
    } else {
      examine_movement(call, tensor, blocks);
    }
  }

  // Each kind of judgement is tried on a fault of its own, till it sees one. Not every call lends itself to it.
  template <class Sees>
  void try_itself(const std::string& kind, const Sees& sees) {
    Trial& trial = trials_[kind];
    if (trial.seen || trial.tries >= kMostTries) return;
    ++trial.tries;
    trial.seen = sees();
  }

  void examine_reduction(const CapturedCall& call, std::size_t tensor, const CallBlocks& blocks) {
    const ReductionJudgement judgement = judge_reduction(call, blocks);
    judged_ += judgement.judged;
    margin_ = std::max(margin_, judgement.margin);
    if (judgement.judged > 0) margins_[call.step] = std::max(margins_[call.step], judgement.margin);
    for (const WrongOutput& wrong : judgement.wrong) add_wrong(call, tensor, wrong);
    if (!judgement.apart.empty()) add_apart(call, tensor, judgement);
    if (judgement.judged == 0 || !judgement.wrong.empty()) return;
    if (judgement.blind) ++blind_;
    const std::string kind = fmt::format("{} of {}", reader::name_of(call.reduce), reader::name_of(blocks.dtype));
    if (!judgement.blind) try_itself(kind, [&] { return sees_wrong_element(call, blocks); });
  }

  void add_wrong(const CapturedCall& call, std::size_t tensor, const WrongOutput& wrong) {
    const int rank = call.members[wrong.member].rank;
    WrongResult result{&call, tensor, {rank}, wrong.cause, "", {}, "", !was_changed(call)};
    if (wrong.cause.empty()) {
      result.kind = "elements";
      result.cause = fmt::format("is not the {} of what the ranks gave, in {} of {} elements looked at",
                                 reader::name_of(call.reduce), wrong.differ, wrong.of);
    }
    std::string given;
    for (std::size_t i = 0; i < std::min(wrong.given.size(), kMostGiven); ++i)
      given += fmt::format("{}rank {} gave {}", i > 0 ? ", " : "", call.members[i].rank, wrong.given[i]);
    if (wrong.given.size() > kMostGiven) given += fmt::format(" and {} more", wrong.given.size() - kMostGiven);
    result.details.push_back(fmt::format("element {}: {}", wrong.place, given));
    result.details.push_back(fmt::format("rank {} got {}, expected {}", rank, wrong.got, wrong.expected));
    least_fault_ = least_fault_ == 0 ? wrong.excess : std::min(least_fault_, wrong.excess);
    finish(std::move(result));
  }

  // Backends other than gloo may reduce on each rank in an order of its own.
  void add_apart(const CapturedCall& call, std::size_t tensor, const ReductionJudgement& judgement) {
    WrongResult result{&call,   tensor, {}, "differs from rank to rank, in elements that were not looked at",
                       "apart", {},     "", true};
    for (const std::size_t member : judgement.apart) result.ranks.push_back(call.members[member].rank);
    result.certain = call.backend == "gloo" && !was_changed(call);
    result.details.push_back("the ranks of an all-reduce get the same bits; the hashes of what these got differ");
    finish(std::move(result));
  }

  void examine_movement(const CapturedCall& call, std::size_t tensor, const CallBlocks& blocks) {
    const MovementJudgement judgement = judge_movement(call.op, call.root, blocks, call.ranks());
    judged_ += judgement.judged;
    for (const WrongBlock& wrong : judgement.wrong) {
      const CallMember& source = call.members[wrong.source];
      const CallMember& member = call.members[wrong.member];
      // Only who gave it can have changed it.
      WrongResult result{&call, tensor, {member.rank}, wrong.words, "", {}, "", !source.changed};
      const bool many = blocks.out[wrong.member].size() > 1;
      result.cause = many ? fmt::format("as block {}, of rank {}, {}", wrong.block, source.rank, wrong.words)
                          : fmt::format("from rank {} {}", source.rank, wrong.words);
      result.kind = wrong.words.substr(0, wrong.words.find_first_of(":0123456789"));
      if (const CallTensor* given = source.input(tensor); given != nullptr && given->strided) {
        result.details.push_back(
            fmt::format("rank {} gave a tensor whose elements do not lie one after the other in "
                        "memory; the backend reads it as if they did",
                        source.rank));
        result.next = "give the collective tensor.contiguous()";
      }
      finish(std::move(result));
    }
    if (judgement.judged > 0 && judgement.wrong.empty())
      try_itself("data movement", [&] { return sees_wrong_block(call, blocks); });
  }

  void finish(WrongResult result) {
    if (!result.certain) {
      result.details.emplace_back(
          "the job wrote to what it had given before the call was done, or ranks may differ here");
      result.next = "wait for the call before the tensor is written to, and look whether this goes away";
    } else if (result.next.empty()) {
      result.next = "plumbline check-collectives -- torchrun … runs every collective over the same groups and network";
    }
    found_.add(std::move(result));
  }

  Verdict conclude(const CapturedCalls& captured) {
    Verdict verdict;
    verdict.check = "collective_results";
    verdict.findings = found_.findings(subject_);
    if (captured.unknown_groups > 0)
      verdict.unknown.push_back(
          fmt::format("{} captures are of groups that no trace tells of", captured.unknown_groups));
    if (partial_ > 0)
      verdict.unknown.push_back(
          fmt::format("{} of {} calls were captured by some of their ranks only", partial_, calls_));
    if (unjudged_ > 0)
      verdict.unknown.push_back(
          fmt::format("{} of {} calls could not be judged: inputs or results of a rank were not captured, another "
                      "message was received into the same place, or the operation has no closed form",
                      unjudged_, calls_));
    if (unscaled_ > 0)
      verdict.unknown.push_back(fmt::format(
          "{} of {} calls sum scaled parts, and their factor was not recorded: a tensor of the device has it",
          unscaled_, calls_));
    if (blind_ > 0)
      verdict.unknown.push_back(fmt::format(
          "{} sums have so many ranks and so few digits that a rank's part could be missing unseen", blind_));
    bool seen = false;
    for (const auto& [kind, trial] : trials_) {
      seen = seen || trial.seen;
      if (!trial.seen) verdict.unknown.push_back(fmt::format("faults put into copies of {} were not seen", kind));
    }
    const bool fails = std::any_of(verdict.findings.begin(), verdict.findings.end(),
                                   [](const Finding& finding) { return finding.status == Status::kFail; });
    if (calls_ == 0) {
      verdict.reason = "no collective was captured" + left_out(subject_);
    } else if (unscaled_ == calls_) {
      verdict.reason = "all captured calls sum scaled parts, and their factor was not recorded";
    } else if (fails) {
      verdict.status = Status::kFail;
      verdict.reason = "collectives left other values than what the ranks gave, moved or reduced";
      if (least_fault_ > 0 && std::isfinite(least_fault_))
        verdict.reason += fmt::format(" (the least deviation is {:.3g} times its bound, right ones are within {:.2g})",
                                      least_fault_, margin_);
    } else if (!verdict.findings.empty() || judged_ == 0 || !seen) {
      verdict.status = Status::kInconclusive;
      verdict.reason = verdict.findings.empty()
                           ? fmt::format("none of {} captured calls could be judged", calls_)
                           : "results differ from the closed form, for which the collective may not be to blame";
      if (judged_ > 0 && verdict.findings.empty())
        verdict.reason = "faults put into copies of the captures were not seen";
    } else {
      verdict.status = Status::kPass;
      verdict.reason =
          fmt::format("{} captured calls left what the ranks gave, moved or reduced", calls_ - unjudged_ - unscaled_);
      if (margin_ > 0) verdict.reason += fmt::format("; sums within {:.2g} of their rounding bound", margin_);
    }
    return verdict;
  }

  const Subject& subject_;
  CollectiveMargins& margins_;
  CollectiveFindings found_;
  std::size_t calls_ = 0;
  std::size_t partial_ = 0;
  std::size_t unjudged_ = 0;  // calls
  std::size_t unscaled_ = 0;  // likewise, since a factor is not known
  std::size_t judged_ = 0;    // outputs and blocks
  std::size_t blind_ = 0;
  double margin_ = 0;
  double least_fault_ = 0;
  struct Trial {
    int tries = 0;
    bool seen = false;
  };
  std::map<std::string, Trial> trials_;
};

}  // namespace

Verdict check_collective_results(const Subject& subject, CollectiveMargins& margins) {
  return ResultCheck(subject, margins).run();
}

Verdict check_collective_results(const Subject& subject) {
  CollectiveMargins margins;
  return check_collective_results(subject, margins);
}

}  // namespace plumbline::checks
