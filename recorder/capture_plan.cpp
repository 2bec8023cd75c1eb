#include "recorder/capture_plan.hpp"

#include <charconv>
#include <limits>
#include <optional>

namespace plumbline::recorder {
namespace {

constexpr std::int64_t kLastStep = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kAllBytes = std::numeric_limits<std::uint64_t>::max();

// What a level keeps by itself. At watch it must stay far below a percent of the job; a diagnosis keeps what fits.
struct Default {
  Level level;
  std::string_view steps;
  std::string_view amounts;
};
constexpr Default kDefaults[] = {
    {Level::kWatch, "0-2,%200",
     "*=sample:16+hash,param=sample:16+hash,buffer=sample:16+hash,grad=sample:16,state=sample:16,loss=full,backward."
     "loss=full,"
     "token_loss=sample:16,load=hash,save=hash,rng=hash"},
    {Level::kDiagnose, "all",
     "*=full+hash,buffer=sample:16+hash,collective=sample:1024+hash,grad.backward=sample:64,grad.kept=sample:64"},
};
// Larger tensors are sampled in a diagnosis, unless it is told to keep them whole.
constexpr std::uint64_t kSmallBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kDiagnoseSamples = 4096;

// Takes the text up to `separator` off `text`.
std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > T{1} << 62) return {};
  return value;
}

bool add_word(std::string_view word, CaptureWish& wish) {
  constexpr std::string_view kSample = "sample:";
  if (word == "full") {
    wish.full_bytes = kAllBytes;
  } else if (word == "hash") {
    wish.hash = true;
  } else if (word == "stats") {
    wish.statistics = true;
  } else if (word.starts_with(kSample)) {
    const auto samples = number<std::uint64_t>(word.substr(kSample.size()));
    if (!samples || *samples == 0) return false;
    wish.samples = *samples;
  } else {
    return false;
  }
  return true;
}

std::optional<CaptureWish> parse_wish(std::string_view text) {
  CaptureWish wish{};
  if (text == "none") return wish;
  if (text.empty() || text.back() == '+') return {};
  while (!text.empty()) {
    if (!add_word(next_part(text, '+'), wish)) return {};
  }
  return wish;
}

// "grad" stands for "grad" and "grad.before_clip", not for "gradient".
bool stands_for(std::string_view name, std::string_view probe) noexcept {
  if (name == "*") return true;
  return probe.starts_with(name) && (probe.size() == name.size() || probe[name.size()] == '.');
}

}  // namespace

CapturePlan::CapturePlan(Level level, std::string_view steps, std::string_view amounts) {
  for (const Default& usual : kDefaults) {
    if (usual.level != level) continue;
    if (!add_steps(steps)) add_steps(usual.steps);
    add_amounts(usual.amounts);
    if (level != Level::kDiagnose) continue;
    for (Amount& amount : amounts_) {
      if (amount.wish.full_bytes == 0) continue;
      amount.wish.full_bytes = kSmallBytes;
      amount.wish.samples = kDiagnoseSamples;
    }
  }
  if (level != Level::kOff) add_amounts(amounts);
}

bool CapturePlan::add_steps(std::string_view text) {
  std::vector<Steps> found;
  if (text.empty() || text.back() == ',') return false;
  while (!text.empty()) {
    std::string_view part = next_part(text, ',');
    if (part == "all") {
      found.push_back({0, kLastStep, 1});
    } else if (part.starts_with('%')) {
      const auto every = number<std::int64_t>(part.substr(1));
      if (!every || *every <= 0) return false;
      found.push_back({0, kLastStep, *every});
    } else if (part != "none") {
      const bool range = part.find('-') != std::string_view::npos;
      const auto first = number<std::int64_t>(next_part(part, '-'));
      const auto last = range ? number<std::int64_t>(part) : first;
      if (!first || !last || *first < 0 || *last < *first) return false;
      found.push_back({*first, *last, 1});
    }
  }
  steps_ = std::move(found);
  return true;
}

bool CapturePlan::add_amounts(std::string_view text) {
  std::vector<Amount> found;
  if (!text.empty() && text.back() == ',') return false;
  while (!text.empty()) {
    std::string_view part = next_part(text, ',');
    const std::string_view probe = next_part(part, '=');
    const auto wish = parse_wish(part);
    if (probe.empty() || !wish) return false;
    found.insert(found.begin(), {std::string(probe), *wish});
  }
  amounts_.insert(amounts_.begin(), found.begin(), found.end());
  return true;
}

bool CapturePlan::step(std::int64_t step) const noexcept {
  for (const Steps& steps : steps_) {
    if (step >= steps.first && step <= steps.last && step % steps.every == 0) return true;
  }
  return false;
}

CaptureWish CapturePlan::wish(std::string_view probe) const noexcept {
  const auto length = [](const Amount& amount) { return amount.probe == "*" ? 0 : amount.probe.size(); };
  const Amount* best = nullptr;
  for (const Amount& amount : amounts_) {
    if (!stands_for(amount.probe, probe)) continue;
    if (best == nullptr || length(amount) > length(*best)) best = &amount;
  }
  return best != nullptr ? best->wish : CaptureWish{};
}

bool CapturePlan::understands_steps(std::string_view text) { return CapturePlan().add_steps(text); }

bool CapturePlan::understands_amounts(std::string_view text) { return CapturePlan().add_amounts(text); }

}  // namespace plumbline::recorder
