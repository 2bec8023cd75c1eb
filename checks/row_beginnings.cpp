#include "checks/row_beginnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "checks/detail.hpp"

namespace plumbline::checks {
namespace {

constexpr std::size_t kFewestRows = 4;
constexpr std::size_t kShown = 6;  // tokens of a row
constexpr std::string_view kNext =
    "let one of the two write it: tokenize what a chat template rendered with add_special_tokens=False";

// How often a document's first token stands there in a row.
std::size_t run_of(const TokenRows& rows, const Document& document) {
  std::size_t place = document.begin;
  while (place < document.end && rows.at(document.row, place) == rows.at(document.row, document.begin)) ++place;
  return place - document.begin;
}

std::string text_of(const TokenRows& rows, const Document& document) {
  std::string text = "[";
  const std::size_t end = std::min(document.end, document.begin + kShown);
  for (std::size_t place = document.begin; place < end; ++place)
    text += fmt::format("{}{:.0f}", place > document.begin ? ", " : "", rows.at(document.row, place));
  return text + (end < document.end ? ", …]" : "]");
}

class Beginnings {
 public:
  explicit Beginnings(const std::vector<TokenBatch>& batches) : batches_(batches) {
    for (const TokenBatch& batch : batches) count(batch);
  }

  void report(Observations& into) const {
    if (doubled_ == 0 || first_ == nullptr) return;
    if (bos_) {
      // A text may hold the token by itself, in a row here or there.
      add(into, whole_batches_ > 0 ? Status::kFail : Status::kInconclusive,
          fmt::format("begin with token {:.0f}, the model's bos_token_id, twice in {}", *bos_, amount()));
    } else if (all_begin_alike_ && documents_ >= kFewestRows && continuations_.size() > 1 &&
               (doubled_ == documents_ || whole_batches_ > 0)) {
      add(into, Status::kInconclusive,
          fmt::format("begin with token {:.0f} twice in {}: it begins {} once, as the token of a beginning does",
                      first_token_.value_or(0), amount(), doubled_ == documents_ ? "none" : "the others"));
    }
  }

 private:
  void count(const TokenBatch& batch) {
    const Detail detail(batch.capture->detail);
    if (!bos_) bos_ = detail.number("bos");
    // Where nothing tells padding apart, two of it in front are no beginning.
    if (batch.rows.mask.empty() && bos_ && detail.number("pad") == bos_) return;
    std::size_t here = 0;
    for (const Document& document : batch.documents) {
      const double token = batch.rows.at(document.row, document.begin);
      if (!first_token_) first_token_ = token;
      all_begin_alike_ = all_begin_alike_ && token == *first_token_;
      ++documents_;
      const std::size_t run = run_of(batch.rows, document);
      if (document.begin + run < document.end) continuations_.insert(batch.rows.at(document.row, document.begin + run));
      if (run != 2 || (bos_ && token != *bos_)) continue;
      ++here;
      if (first_ == nullptr) {
        first_ = &batch;
        example_ = text_of(batch.rows, document);
      }
    }
    doubled_ += here;
    if (here > 1 && here == batch.documents.size()) ++whole_batches_;
  }

  std::string amount() const {
    if (doubled_ == documents_) return fmt::format("all {} rows", documents_);
    return fmt::format(
        "{} of {} rows{}", doubled_, documents_,
        whole_batches_ > 0 ? fmt::format(" (all rows of {} of {} batches)", whole_batches_, batches_.size()) : "");
  }

  void add(Observations& into, Status status, std::string words) const {
    Observation one;
    one.kind = "double beginning";
    one.status = status;
    one.rank = first_->capture->rank;
    one.step = first_->capture->step;
    one.tensor = "input_ids";
    one.words = std::move(words);
    one.details = {"a row begins " + example_};
    one.next = kNext;
    one.component = "data";
    one.capture = first_->capture;
    into.add(std::move(one));
  }

  const std::vector<TokenBatch>& batches_;
  std::optional<double> bos_;
  std::optional<double> first_token_;
  bool all_begin_alike_ = true;
  std::set<double> continuations_;  // the first other token of each row
  std::size_t documents_ = 0;
  std::size_t doubled_ = 0;
  std::size_t whole_batches_ = 0;
  const TokenBatch* first_ = nullptr;
  std::string example_;
};

}  // namespace

void examine_beginnings(const std::vector<TokenBatch>& batches, Observations& into) {
  Beginnings(batches).report(into);
}

}  // namespace plumbline::checks
