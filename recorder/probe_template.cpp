#include "recorder/probe_template.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "recorder/json_text.hpp"
#include "recorder/small_file.hpp"
#include "recorder/toml_library.hpp"

namespace plumbline::recorder {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::string_view kOwnPrefix = "activation.";
constexpr auto kProbes =
    std::to_array<std::string_view>({"input_ids", "position_ids", "attention_mask", "document_boundaries", "labels",
                                     "logits", "token_loss", "token_logprob", "loss", "head.hidden", "head.weight",
                                     "head.bias", "head.labels", "backward.loss", "grad.before_clip"});
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
constexpr std::string_view kDigits = "0123456789";

bool has_only(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return kLetters.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos ||
           more.find(c) != std::string_view::npos;
  });
}

bool is_known_probe(std::string_view name) {
  if (name.starts_with(kOwnPrefix)) return name.size() > kOwnPrefix.size() && has_only(name, "._-");
  return std::find(kProbes.begin(), kProbes.end(), name) != kProbes.end();
}

std::string probe_list() {
  std::string names;
  for (const std::string_view name : kProbes) names += std::string(name) + ", ";
  return names + "activation.…";
}

std::size_t stars(std::string_view text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '*')); }

// Collects what a file says, and complains about the rest.
class Reading {
 public:
  explicit Reading(std::vector<std::string>& complaints) : complaints_(complaints) {}

  ProbeTemplate read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (name == "framework" || name == "launch") {
        (name == "framework" ? result_.framework : result_.launch) = text(node, name);
      } else if (name == "probe") {
        each(node, name, [this](const std::string& path, const std::string& probe, const toml::node& value) {
          read_probe(path, probe, value);
        });
      } else if (name == "replicas") {
        each(node, name, [this](const std::string& path, const std::string& pattern, const toml::node& value) {
          add_pair(result_.replicas, pattern, text(value, path));
        });
      } else if (name == "names") {
        each(node, name, [this](const std::string& path, const std::string& pattern, const toml::node& value) {
          read_name(path, pattern, text(value, path));
        });
      } else {
        complain(name + " is not a field of a template; there are: framework, launch, probe, replicas, names");
      }
    }
    return std::move(result_);
  }

 private:
  void complain(std::string sentence) { complaints_.push_back(std::move(sentence)); }

  std::string text(const toml::node& node, const std::string& path) {
    if (const auto* value = node.as_string(); value != nullptr && !value->get().empty()) return value->get();
    complain(path + " must be a text");
    return {};
  }

  template <class Take>
  void each(const toml::node& node, const std::string& path, const Take& take) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return complain(path + " must be a table");
    for (const auto& [key, value] : *table) take(path + "." + std::string(key.str()), std::string(key.str()), value);
  }

  static void add_pair(std::vector<std::pair<std::string, std::string>>& pairs, const std::string& pattern,
                       std::string value) {
    if (!value.empty()) pairs.emplace_back(pattern, std::move(value));
  }

  void read_name(const std::string& path, const std::string& pattern, const std::string& name) {
    if (stars(pattern) != stars(name)) {
      return complain(path + " has another number of * than the name that it stands for");
    }
    add_pair(result_.names, pattern, name);
  }

  void read_probe(const std::string& path, const std::string& name, const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return complain(path + " must be a table");
    if (!is_known_probe(name)) return complain(name + " is not a probe; there are: " + probe_list());
    TemplateProbe probe;
    probe.probe = name;
    std::vector<std::string> places;
    const std::size_t before = complaints_.size();
    for (const auto& [key, value] : *table) {
      const std::string field(key.str());
      const std::string where = path + "." + field;
      if (field == "at") {
        places = texts(value, where);
      } else if (field == "what") {
        read_what(where, text(value, where), probe);
      } else if (field == "amount") {
        probe.amount = text(value, where);
        if (!is_amount(probe.amount)) complain(where + " takes full, sample:N, hash, stats, joined by +, or none");
      } else {
        complain(where + " is not a field of a probe; there are: at, what, amount");
      }
    }
    if (places.empty() && before == complaints_.size())
      complain(path + " does not say at which place it sits: at is missing");
    for (const std::string& place : places) {
      if (read_place(path + ".at", place, probe) && before == complaints_.size()) result_.probes.push_back(probe);
    }
  }

  std::vector<std::string> texts(const toml::node& node, const std::string& path) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return {text(node, path)};
    std::vector<std::string> found;
    for (const toml::node& item : *list) found.push_back(text(item, path));
    return found;
  }

  // output, output.1, output.logits, input.0, input.labels
  void read_what(const std::string& path, std::string_view what, TemplateProbe& probe) {
    const std::size_t dot = std::min(what.find('.'), what.size());
    const std::string_view side = what.substr(0, dot);
    const std::string_view item = what.substr(std::min(dot + 1, what.size()));
    const bool whole = dot == what.size();
    if ((side != "output" && side != "input") || (!whole && item.empty()) || !has_only(item, "")) {
      return complain(path + " takes output, input, or an item of them as output.1 or input.labels");
    }
    probe.output = side == "output";
    probe.selector = item;
  }

  bool read_place(const std::string& path, std::string_view place, TemplateProbe& probe) {
    const std::size_t colon = place.find(':');
    const std::string_view target = place.substr(std::min(colon, place.size() - 1) + 1);
    const auto kind = kind_of(place.substr(0, colon));
    if (colon == std::string_view::npos || !kind) {
      complain(path + " takes module:PATTERN, function:package.module.name or operator:namespace::name");
      return false;
    }
    probe.kind = *kind;
    probe.target = target;
    if (fits(*kind, target)) return true;
    complain(path + ": " + std::string(target) + " is no " + std::string(place_kind_name(*kind)) +
             (*kind == PlaceKind::kModule     ? " pattern, as layers.*.attn"
              : *kind == PlaceKind::kFunction ? " path, as package.module.name"
                                              : " name, as aten::name"));
    return false;
  }

  static std::optional<PlaceKind> kind_of(std::string_view name) {
    for (const PlaceKind kind : {PlaceKind::kModule, PlaceKind::kFunction, PlaceKind::kOperator}) {
      if (place_kind_name(kind) == name) return kind;
    }
    return std::nullopt;
  }

  static bool fits(PlaceKind kind, std::string_view target) {
    switch (kind) {
      case PlaceKind::kModule:
        return has_only(target, ".*-") && target.find("..") == std::string_view::npos;
      case PlaceKind::kFunction:
        return has_only(target, ".") && target.find('.') != std::string_view::npos && target.front() != '.' &&
               target.back() != '.';
      case PlaceKind::kOperator:
        return has_only(target, ":.") && target.find("::") != std::string_view::npos && target.front() != ':' &&
               target.back() != ':';
    }
    return false;
  }

  std::vector<std::string>& complaints_;
  ProbeTemplate result_;
};

void add_pairs(std::string& json, const char* key, const std::vector<std::pair<std::string, std::string>>& pairs) {
  json += std::string(",\"") + key + "\":[";
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    json += (i > 0 ? ",[" : "[") + json_text(pairs[i].first) + "," + json_text(pairs[i].second) + "]";
  }
  json += "]";
}

}  // namespace

std::string_view place_kind_name(PlaceKind kind) noexcept {
  switch (kind) {
    case PlaceKind::kModule:
      return "module";
    case PlaceKind::kFunction:
      return "function";
    case PlaceKind::kOperator:
      return "operator";
  }
  return "";
}

bool is_amount(std::string_view text) noexcept {
  if (text == "none") return true;
  constexpr std::string_view kSample = "sample:";
  while (true) {
    const std::size_t plus = text.find('+');
    const std::string_view part = text.substr(0, plus);
    const std::string_view number = part.substr(std::min(kSample.size(), part.size()));
    const bool sample = part.starts_with(kSample) && !number.empty() && number.size() < 10 &&
                        number.find_first_not_of(kDigits) == std::string_view::npos;
    if (part != "full" && part != "hash" && part != "stats" && !sample) return false;
    if (plus == std::string_view::npos) return true;
    text.remove_prefix(plus + 1);
  }
}

ProbeTemplate parse_template(std::string_view text, std::vector<std::string>& complaints) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& problem = parsed.error();
    complaints.push_back("line " + std::to_string(problem.source().begin.line) + ": " +
                         std::string(problem.description()));
    return {};
  }
  return Reading(complaints).read(parsed.table());
}

ProbeTemplate read_template(const std::string& path, std::vector<std::string>& complaints) {
  const auto text = read_small_file(path.c_str(), kMostBytes);
  if (!text) {
    complaints.push_back("cannot read the template " + path + ": " + std::strerror(errno));
    return {};
  }
  std::vector<std::string> found;
  ProbeTemplate result = parse_template(*text, found);
  for (const std::string& sentence : found) complaints.push_back(path + ": " + sentence);
  return result;
}

std::string template_json(const ProbeTemplate& description) {
  std::string json = "{\"framework\":" + json_text(description.framework) + ",\"probes\":[";
  for (std::size_t i = 0; i < description.probes.size(); ++i) {
    const TemplateProbe& probe = description.probes[i];
    json += (i > 0 ? ",{\"probe\":" : "{\"probe\":") + json_text(probe.probe) +
            ",\"kind\":" + json_text(place_kind_name(probe.kind)) + ",\"target\":" + json_text(probe.target) +
            ",\"output\":" + (probe.output ? "true" : "false") + ",\"selector\":" + json_text(probe.selector) +
            ",\"amount\":" + json_text(probe.amount) + "}";
  }
  json += "]";
  add_pairs(json, "replicas", description.replicas);
  add_pairs(json, "names", description.names);
  return json + "}";
}

}  // namespace plumbline::recorder
