#include "checks/collective_calls.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <tuple>

#include "checks/call_text.hpp"
#include "checks/detail.hpp"
#include "reader/capture_sets.hpp"
#include "reader/match.hpp"

namespace plumbline::checks {
namespace {

using reader::Capture;
using recorder::Op;

constexpr std::size_t kMostTensors = 1 << 16;

// What a capture says of its call.
struct Said {
  Op op = Op::kUnknown;
  recorder::ReduceOp reduce = recorder::ReduceOp::kNone;
  std::uint64_t group = 0;
  std::uint64_t seq = 0;
  int peer = -1;
  std::size_t tensor = 0;
  std::size_t tensors = 0;
  bool changed = false;
  bool shared = false;
  std::optional<double> factor;
  CallTensor side;
};

std::optional<Said> said(const Capture& capture) {
  const Detail detail(capture.detail);
  Said found;
  const std::string group = detail.text("group");
  const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), found.group);
  const auto whole = [&](const char* key) { return detail.number(key).value_or(-1); };
  const double op = whole("op");
  if (error != std::errc{} || end != group.data() + group.size() || group.empty()) return std::nullopt;
  if (op <= 0 || op >= static_cast<double>(Op::kCount_) || whole("seq") < 0) return std::nullopt;
  found.op = static_cast<Op>(op);
  found.reduce = static_cast<recorder::ReduceOp>(std::clamp(whole("reduce"), 0.0, 255.0));
  found.seq = static_cast<std::uint64_t>(whole("seq"));
  found.peer = static_cast<int>(whole("peer"));
  found.tensor = static_cast<std::size_t>(std::max(whole("tensor"), 0.0));
  found.tensors = static_cast<std::size_t>(std::max(whole("tensors"), 0.0));
  found.changed = detail.flag("changed");
  found.shared = detail.flag("shared");
  found.factor = detail.number("factor");
  found.side.capture = &capture;
  found.side.strided = detail.flag("strided");
  for (const auto& block : detail.numbers("untouched")) {
    if (block && *block >= 0) found.side.untouched.push_back(static_cast<std::size_t>(*block));
  }
  for (const auto& size : detail.numbers("splits")) {
    if (size && *size >= 0) found.side.blocks.push_back(static_cast<std::uint64_t>(*size));
  }
  const auto blocks = static_cast<std::size_t>(std::clamp(whole("blocks"), 1.0, static_cast<double>(kMostTensors)));
  if (found.side.blocks.empty()) found.side.blocks.assign(blocks, capture.elements() / blocks);
  if (found.tensors > kMostTensors || found.tensor > found.tensors) return std::nullopt;
  return found;
}

bool is_message(Op op) { return reader::is_point_to_point(op); }

void place(const Capture& capture, const Said& words, std::size_t trace, CallMember& member) {
  member.id = capture.key;
  member.trace = trace;
  member.changed = member.changed || words.changed;
  member.factor = words.factor;
  if (words.tensor >= words.tensors) return;
  // Of two messages that are received into one place either may be there.
  if (words.shared && is_message(words.op)) return;
  auto& side = capture.probe == "collective.in" ? member.in : member.out;
  side.resize(std::max(side.size(), words.tensors));
  side[words.tensor] = words.side;
}

class Assembly {
 public:
  explicit Assembly(const Subject& subject) : subject_(subject), run_(subject.run()) {}

  CapturedCalls make() {
    for (const reader::CaptureFile& file : subject_.captures().files()) {
      const auto trace = reader::trace_of(run_, file.process());
      for (const Capture& capture : file.captures()) {
        if (!capture.probe.starts_with("collective.")) continue;
        const auto words = said(capture);
        if (!words) continue;
        if (!trace) {
          ++made_.unknown_groups;
        } else if (is_message(words->op)) {
          messages_.push_back({&capture, *words, *trace});
        } else {
          add(capture, *words, *trace);
        }
      }
    }
    for (auto& [key, call] : calls_) made_.calls.push_back(std::move(call));
    if (!messages_.empty()) add_messages();
    std::stable_sort(made_.calls.begin(), made_.calls.end(),
                     [](const CapturedCall& a, const CapturedCall& b) { return a.step < b.step; });
    return std::move(made_);
  }

 private:
  struct Message {
    const Capture* capture;
    Said words;
    std::size_t trace;
  };

  void add(const Capture& capture, const Said& words, std::size_t trace) {
    const reader::Trace& own = run_.traces()[trace];
    const reader::Group* group = own.group(words.group);
    if (group == nullptr || group->rank < 0 || static_cast<std::size_t>(group->rank) >= group->ranks.size()) {
      ++made_.unknown_groups;
      return;
    }
    CapturedCall& call = calls_[{own.launch(), own.attempt(), words.group, words.seq}];
    if (call.members.empty()) {
      call.op = words.op;
      call.reduce = words.reduce;
      call.group = words.group;
      call.group_name = group_name(*group);
      call.backend = group->backend;
      call.seq = words.seq;
      call.root = words.peer;
      call.step = capture.step;
      call.members.resize(group->ranks.size());
      for (std::size_t i = 0; i < call.members.size(); ++i) call.members[i].rank = group->ranks[i];
    }
    // Ranks that called different things are another check's finding.
    if (call.op != words.op || call.reduce != words.reduce || call.members.size() != group->ranks.size()) return;
    call.tensors = std::max(call.tensors, words.tensors);
    call.step = std::min(call.step, capture.step);
    place(capture, words, trace, call.members[static_cast<std::size_t>(group->rank)]);
  }

  // Which receive belongs to which send, only counting them from the start tells.
  void add_messages() {
    std::map<std::pair<std::size_t, std::uint64_t>, std::vector<const Message*>> by_call;
    for (const Message& message : messages_) by_call[{message.trace, message.capture->key}].push_back(&message);
    reader::match_collectives(run_, {}, [&](const reader::MatchedCollective& match) {
      if (!match.point_to_point || match.members.size() != 2) return true;
      CapturedCall call;
      call.members.resize(2);
      for (std::size_t i = 0; i < 2; ++i) {
        const reader::MatchedMember& member = match.members[i];
        call.members[i].rank = member.rank;
        if (!member.present) return true;
        const auto found = by_call.find({member.trace, member.collective.id});
        if (found == by_call.end()) return true;
        for (const Message* message : found->second) {
          call.op = message->words.op;
          call.group = message->words.group;
          call.seq = message->words.seq;
          call.step = message->capture->step;
          call.tensors = std::max(call.tensors, message->words.tensors);
          place(*message->capture, message->words, message->trace, call.members[i]);
        }
      }
      call.group_name = match.group_description.empty() || match.group_description == "undefined"
                            ? match.group_name
                            : match.group_description;
      made_.calls.push_back(std::move(call));
      return true;
    });
  }

  const Subject& subject_;
  const reader::Run& run_;
  std::map<std::tuple<int, int, std::uint64_t, std::uint64_t>, CapturedCall> calls_;  // launch, attempt, group, number
  std::vector<Message> messages_;
  CapturedCalls made_;
};

}  // namespace

std::vector<std::int32_t> CapturedCall::ranks() const {
  std::vector<std::int32_t> found;
  for (const CallMember& member : members) found.push_back(member.rank);
  return found;
}

CapturedCalls captured_calls(const Subject& subject) { return Assembly(subject).make(); }

}  // namespace plumbline::checks
