#include "checks/coverage_probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "checks/detail.hpp"
#include "checks/words.hpp"

namespace plumbline::checks {
namespace {

// Of probes that are armed without a template.
std::string_view usual_reason(std::string_view probe) {
  if (probe == "input_ids") return "no embedding of torch looked anything up in a captured step";
  if (probe == "backward.loss") return "torch.autograd.backward was not called in a captured step";
  if (probe == "logits" || probe == "labels" || probe == "loss") {
    return "no cross_entropy or nll_loss of torch ran in a captured step: another loss, or a compiled one, needs a "
           "template that names its place";
  }
  return "its place was not reached in a captured step";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

void add(std::string what, int rank, std::vector<CoverageGap>& gaps) {
  const auto same = std::find_if(gaps.begin(), gaps.end(), [&](const CoverageGap& gap) { return gap.what == what; });
  if (same == gaps.end()) {
    gaps.push_back({std::move(what), {rank}, false});
  } else if (std::find(same->ranks.begin(), same->ranks.end(), rank) == same->ranks.end()) {
    same->ranks.push_back(rank);
  }
}

std::vector<const reader::Capture*> probe_notes(const Subject& subject) {
  std::vector<const reader::Capture*> notes;
  for (const reader::CaptureSet& set : subject.capture_sets().all) {
    const auto some = set.captures.select("probes", -1);
    notes.insert(notes.end(), some.begin(), some.end());
  }
  return notes;
}

}  // namespace

std::vector<CoverageGap> probe_gaps(const Subject& subject) {
  std::vector<CoverageGap> gaps;
  for (const reader::Capture* note : probe_notes(subject)) {
    const Detail detail(note->detail);
    // How many fired is known when the process ends in order.
    if (!detail.flag("ended")) continue;
    std::vector<std::string> never = detail.texts("never");
    // A fused head has neither logits nor a loss of torch's.
    const bool fused = detail.object("fired").has("head.hidden");
    std::erase_if(never, [fused](const std::string& probe) {
      return fused && (probe == "logits" || probe == "labels" || probe == "loss");
    });
    if (!never.empty() && never.size() == detail.texts("armed").size()) {
      add(fmt::format("none of its {} probes fired: the job reached no step that was to be captured, or does all of it "
                      "in compiled code",
                      never.size()),
          note->rank, gaps);
      continue;
    }
    // Those with one reason in one sentence.
    std::vector<std::pair<std::string, std::string>> sentences;  // reason, names
    for (const std::string& probe : never) {
      std::string why = joined(detail.object("reasons").texts(probe));
      if (why.empty()) why = usual_reason(probe);
      const auto same =
          std::find_if(sentences.begin(), sentences.end(), [&](const auto& one) { return one.first == why; });
      if (same == sentences.end()) {
        sentences.emplace_back(std::move(why), probe);
      } else {
        same->second += ", " + probe;
      }
    }
    for (const auto& [why, names] : sentences) {
      const bool several = names.find(',') != std::string::npos;
      add(fmt::format("probe{} {} never fired: {}", several ? "s" : "", names, why), note->rank, gaps);
    }
  }
  return gaps;
}

}  // namespace plumbline::checks
