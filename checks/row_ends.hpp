// Ends of what is learned: the token that ends an answer or a document, when it is never a label, though nothing pads
// with it. (Where the end token pads as well, the loss check tells it.)
//
// What is learned is a run of tokens with labels. Where each run is followed by one and the same token that never has a
// label, and the last tokens of the runs differ, so that none of them is an end, a model learns to go on for ever.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/observations.hpp"
#include "checks/token_rows.hpp"

namespace plumbline::checks {

class RowEnds {
 public:
  // Token ids as a model was given them: which tokens its settings call ends.
  void note_settings(const Capture& ids);
  // One captured pass with its labels, those of each token or of the one before it.
  void count(CaptureLoader& loader, const Capture& labels, const TokenRows& rows);
  // A failure where the settings call the token an end; else left open, where documents end with it.
  void report(Observations& into) const;
  // Where documents are learned over their boundaries.
  std::optional<std::string> remark() const;

 private:
  struct Uses {
    std::size_t after = 0;    // runs that it follows
    std::size_t closing = 0;  // as the last token of a document that another one or padding follows
    std::size_t elsewhere = 0;
  };
  void count_runs(const TokenRows& rows, const std::vector<bool>& learned, const Document& document, bool closed);

  std::set<double> ends_;
  std::map<double, Uses> uses_;         // by token
  std::map<double, std::size_t> last_;  // of the runs that are followed
  std::set<double> learned_;            // tokens that have a label somewhere
  std::set<double> padding_;
  std::size_t runs_ = 0;
  std::size_t followers_ = 0;  // documents that another one precedes in their row …
  std::size_t crossed_ = 0;    // … with a label for their first token
  const Capture* first_ = nullptr;
};

}  // namespace plumbline::checks
