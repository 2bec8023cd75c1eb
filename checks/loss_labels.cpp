#include "checks/loss_labels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "checks/token_rows.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kFewestTokens = 6;

// Labels of a row of tokens, by their place in the row.
struct Rows {
  std::size_t length = 0;  // labels a row
  const LossCall* call = nullptr;
  double at(std::size_t row, std::size_t place) const { return call->label_values[row * length + place]; }
  bool supervised(std::size_t row, std::size_t place) const { return at(row, place) != call->ignore_index; }
};

struct Shift {
  std::size_t tokens = 0;
  std::size_t hits = 0;
};

Shift shifted_by(const TokenRows& tokens, const Rows& rows, int shift) {
  Shift result;
  for (std::size_t row = 0; row < tokens.batch; ++row) {
    for (std::size_t place = 0; place < rows.length; ++place) {
      const auto from = static_cast<std::int64_t>(place) + shift;
      if (from < 0 || from >= static_cast<std::int64_t>(tokens.length) || !rows.supervised(row, place)) continue;
      ++result.tokens;
      if (rows.at(row, place) == tokens.ids[row * tokens.length + static_cast<std::size_t>(from)]) ++result.hits;
    }
  }
  return result;
}

// The only shift that explains every label; nothing when none or several do.
std::optional<int> shift_of(const TokenRows& tokens, const Rows& rows) {
  std::optional<int> found;
  for (int shift = -1; shift <= 3; ++shift) {
    const Shift here = shifted_by(tokens, rows, shift);
    if (here.tokens < kFewestTokens || here.hits != here.tokens) continue;
    if (found) return std::nullopt;
    found = shift;
  }
  return found;
}

// Whether they are the next ones of other token ids of the same pass: a decoder's, where an encoder reads too, or those
// that a further head begins with.
bool follow_other_tokens(CaptureLoader& loader, const reader::RunCaptures& captures, const LossCall& call,
                         const Rows& rows) {
  for (const Capture* ids : captures.select("input_ids", call.step, {}, call.rank)) {
    const auto tokens = ids->occurrence == call.loss->occurrence ? token_rows(loader, ids, nullptr) : std::nullopt;
    if (tokens && tokens->batch * rows.length == call.rows && shift_of(*tokens, rows) == 1) return true;
  }
  return false;
}

void report(const LossCall& call, std::string kind, std::string words, std::vector<std::string> details,
            std::string next, Status status, Observations& into) {
  Observation one;
  one.kind = std::move(kind);
  one.status = status;
  one.rank = call.rank;
  one.step = call.step;
  one.tensor = "labels";
  one.words = std::move(words);
  one.details = std::move(details);
  one.next = std::move(next);
  one.component = "loss";
  one.capture = call.labels;
  into.add(std::move(one));
}

void examine_shift(const LossCall& call, int shift, Observations& into) {
  if (shift == 1) return;
  const std::string words =
      shift == 0 ? "are the tokens themselves: the shift by one is missing, each place predicts what it reads"
                 : fmt::format("are {} places ahead of the tokens: {}", shift,
                               shift == 2 ? "they were shifted twice" : "the shift is wrong");
  report(call, "shift", words,
         {fmt::format("all {} supervised labels equal the token {} places on", call.supervised, shift)},
         "shift labels by one place, once: in the collator or in the model", Status::kFail, into);
}

// What stands where the attention mask is 0.
std::optional<double> padding_of(const TokenRows& tokens) {
  std::optional<double> padding;
  for (std::size_t i = 0; i < tokens.mask.size(); ++i) {
    if (tokens.mask[i] != 0) continue;
    if (padding && *padding != tokens.ids[i]) return std::nullopt;
    padding = tokens.ids[i];
  }
  return padding;
}

struct EndCount {
  std::size_t inside = 0;      // of the padding id where the attention mask is 1
  std::size_t supervised = 0;  // of these, with a label
  std::size_t others = 0;      // supervised labels of other tokens
  std::size_t padded = 0;      // where the mask is 0
  double id = -1;
  const LossCall* first = nullptr;
};

void count_ends(const TokenRows& tokens, const Rows& rows, const LossCall& call, EndCount& count) {
  const std::optional<double> padding = padding_of(tokens);
  if (!padding) return;
  if (count.first == nullptr) count.first = &call;
  count.id = *padding;
  for (std::size_t row = 0; row < tokens.batch; ++row) {
    for (std::size_t place = 0; place < tokens.length; ++place) {
      const std::size_t at = row * tokens.length + place;
      const bool is_padding = tokens.ids[at] == *padding;
      const bool labelled = place >= 1 && place - 1 < rows.length && rows.supervised(row, place - 1);
      if (tokens.mask[at] == 0) {
        ++count.padded;
      } else if (is_padding && place > 0) {
        ++count.inside;
        count.supervised += labelled ? 1 : 0;
      } else if (labelled) {
        ++count.others;
      }
    }
  }
}

}  // namespace

std::size_t examine_labels(const Subject& subject, CaptureLoader& loader, const std::vector<LossCall>& calls,
                           Observations& into) {
  std::size_t examined = 0;
  std::map<int, EndCount> ends;
  const reader::RunCaptures& captures = subject.captures();
  for (const LossCall& call : calls) {
    const auto tokens = token_rows(loader, captured_beside(captures, "input_ids", *call.loss),
                                   captured_beside(captures, "attention_mask", *call.loss));
    if (!tokens || tokens->batch == 0 || call.rows % tokens->batch != 0) continue;
    const Rows rows{call.rows / tokens->batch, &call};
    if (rows.length > tokens->length || rows.length + 3 < tokens->length) continue;
    const std::optional<int> shift = shift_of(*tokens, rows);
    if (!shift) continue;
    ++examined;
    if (*shift != 1 && follow_other_tokens(loader, captures, call, rows)) continue;
    examine_shift(call, *shift, into);
    if (*shift == 1 && !tokens->mask.empty()) count_ends(*tokens, rows, call, ends[call.rank]);
  }
  for (const auto& [rank, count] : ends) {
    if (count.inside < 2 || count.supervised > 0 || count.others == 0) continue;
    report(
        *count.first, "end of sequence",
        fmt::format("never hold token {:.0f}, which pads and also ends a row: its end is not learned", count.id),
        {fmt::format("token {:.0f} occurs inside attention_mask=1 {} times, with a label {} times; as padding {} times",
                     count.id, count.inside, count.supervised, count.padded)},
        "pad with a token of its own, or mask labels by attention_mask rather than by the padding id", Status::kFail,
        into);
  }
  return examined;
}

}  // namespace plumbline::checks
