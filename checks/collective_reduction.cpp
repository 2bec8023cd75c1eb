#include "checks/collective_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "checks/reduction_causes.hpp"
#include "recorder/dtype_size.hpp"

namespace plumbline::checks {
namespace {

using recorder::Op;
using recorder::ReduceOp;

// The elements of a block at `places`, all of which it has.
Elements pick(recorder::Dtype dtype, const Block& block, const std::vector<std::uint64_t>& places) {
  const std::size_t size = recorder::size_of(dtype);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(places.size() * size);
  auto at = block.places.begin();
  for (const std::uint64_t place : places) {
    at = std::lower_bound(at, block.places.end(), place);
    const auto from = block.bytes.begin() + (at - block.places.begin()) * static_cast<std::ptrdiff_t>(size);
    bytes.insert(bytes.end(), from, from + static_cast<std::ptrdiff_t>(size));
  }
  Elements elements;
  read_elements(dtype, bytes, elements);
  return elements;
}

void keep_common(std::vector<std::uint64_t>& places, const Block& block) {
  std::vector<std::uint64_t> common;
  std::set_intersection(places.begin(), places.end(), block.places.begin(), block.places.end(),
                        std::back_inserter(common));
  places = std::move(common);
}

// Reduced once for all ranks that get the same.
struct Reference {
  Contributions from;
  std::vector<Form> forms;
  std::size_t judged = 0;
};

std::optional<Reference> reference(const CapturedCall& call, const CallBlocks& blocks, std::size_t block) {
  auto from = contributions(blocks, block);
  if (!from) return std::nullopt;
  Reference made{std::move(*from), {}};
  made.forms = closed_forms(call.reduce, blocks.dtype, made.from);
  for (const Form& form : made.forms) made.judged += form.judged ? 1 : 0;
  return made;
}

// A part larger than twice the bound would be missed if it were not there.
bool is_blind(const CapturedCall& call, const Reference& made) {
  const bool sums =
      call.reduce == ReduceOp::kSum || call.reduce == ReduceOp::kAvg || call.reduce == ReduceOp::kPremulSum;
  if (!sums) return false;
  const double scale = call.reduce == ReduceOp::kAvg ? static_cast<double>(made.from.given.size()) : 1;
  for (const Elements& member : made.from.given) {
    if (member.is_whole) return false;
    bool gives = false;
    bool seen = false;
    for (std::size_t i = 0; i < member.size(); ++i) {
      gives = gives || member.real[i] != 0;
      seen = seen || (made.forms[i].judged && std::fabs(member.real[i]) / scale > 2 * made.forms[i].bound);
    }
    if (gives && !seen) return true;
  }
  return false;
}

WrongOutput describe(const CapturedCall& call, const CallBlocks& blocks, const Reference& made, const Elements& got,
                     std::size_t member, std::size_t first, std::size_t differ) {
  WrongOutput wrong;
  wrong.member = member;
  wrong.differ = differ;
  wrong.of = made.judged;
  wrong.place = made.from.places[first];
  wrong.got = got.text(first);
  wrong.expected = text_of(made.forms[first], got.is_whole);
  for (const Elements& given : made.from.given) wrong.given.push_back(given.text(first));
  wrong.cause = reduction_cause(call, blocks, made.from, got, member);
  return wrong;
}

void judge(const CapturedCall& call, const CallBlocks& blocks, const Reference& made, std::size_t member,
           ReductionJudgement& judgement) {
  const Block& block = blocks.out[member].front();
  std::vector<std::uint64_t> places = made.from.places;
  keep_common(places, block);
  if (places != made.from.places || made.judged == 0) {
    ++judgement.unjudged;
    return;
  }
  const Elements got = pick(blocks.dtype, block, places);
  std::size_t differ = 0;
  std::size_t first = 0;
  double worst = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double ratio = excess(made.forms[i], got, i);
    worst = std::max(worst, ratio);
    if (ratio > 1 && differ++ == 0) first = i;
  }
  ++judgement.judged;
  if (differ == 0) {
    judgement.margin = std::max(judgement.margin, worst);
    return;
  }
  judgement.wrong.push_back(describe(call, blocks, made, got, member, first, differ));
  judgement.wrong.back().excess = worst;
}

// Every rank of an all-reduce gets the same bits, since each part of it is reduced in one place.
void find_apart(const CallBlocks& blocks, ReductionJudgement& judgement) {
  std::map<std::uint64_t, std::vector<std::size_t>> by_hash;
  for (std::size_t i = 0; i < blocks.out.size(); ++i) {
    if (!blocks.out[i].empty() && blocks.out[i].front().hash) by_hash[*blocks.out[i].front().hash].push_back(i);
  }
  if (by_hash.size() < 2) return;
  const auto most = std::max_element(by_hash.begin(), by_hash.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const bool majority = most->second.size() * 2 > blocks.out.size();
  for (const auto& [hash, members] : by_hash) {
    if (!majority || hash != most->first) judgement.apart.insert(judgement.apart.end(), members.begin(), members.end());
  }
  std::sort(judgement.apart.begin(), judgement.apart.end());
}

}  // namespace

std::optional<Contributions> contributions(const CallBlocks& blocks, std::size_t block) {
  Contributions found;
  for (std::size_t i = 0; i < blocks.in.size(); ++i) {
    if (block >= blocks.in[i].size()) return std::nullopt;
    if (i == 0) found.places = blocks.in[i][block].places;
    keep_common(found.places, blocks.in[i][block]);
  }
  for (const auto& member : blocks.in) found.given.push_back(pick(blocks.dtype, member[block], found.places));
  for (std::size_t i = 0; i < blocks.factors.size(); ++i) {
    if (std::isnan(blocks.factors[i]) || found.given[i].is_whole) return std::nullopt;
    for (double& value : found.given[i].real) value *= blocks.factors[i];
  }
  return found;
}

bool scatters(Op op) {
  return op == Op::kReduceScatter || op == Op::kReduceScatterBase || op == Op::kReduceScatterTensorCoalesced;
}

ReductionJudgement judge_reduction(const CapturedCall& call, const CallBlocks& blocks) {
  ReductionJudgement judgement;
  std::optional<Reference> made;
  bool tried = false;
  for (std::size_t member = 0; member < blocks.out.size(); ++member) {
    if (blocks.out[member].empty() || (blocks.out[member].front().count == 0)) continue;
    if (!tried || scatters(call.op)) made = reference(call, blocks, scatters(call.op) ? member : 0);
    tried = true;
    if (!made) {
      ++judgement.unjudged;
      continue;
    }
    judge(call, blocks, *made, member, judgement);
    judgement.blind = judgement.blind || is_blind(call, *made);
  }
  if (judgement.wrong.empty() && (call.op == Op::kAllReduce || call.op == Op::kAllReduceCoalesced)) {
    find_apart(blocks, judgement);
  }
  return judgement;
}

}  // namespace plumbline::checks
