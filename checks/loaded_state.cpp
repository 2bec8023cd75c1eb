#include "checks/loaded_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "checks/detail.hpp"
#include "checks/state_parts.hpp"
#include "checks/tensor_names.hpp"
#include "checks/tensor_relation.hpp"

namespace plumbline::checks {
namespace {

using reader::Checkpoint;
using reader::Tensor;

// "optimizer.state.3.exp_avg" is "3.exp_avg" of "optimizer.state."; a parameter is all but the dictionaries around it.
struct Place {
  std::string around;
  std::string name;
};

bool is_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Empty `around` and `name`: not the state of a numbered parameter.
Place state_place(std::string_view name) {
  const auto key = state_key(name);
  if (!key) return {};
  const std::size_t dot = key->owner.rfind('.');
  if (dot == std::string_view::npos || !is_number(key->owner.substr(dot + 1))) return {};
  return {std::string(name.substr(0, dot + 1)), std::string(name.substr(dot + 1))};
}

// The dictionaries around it that make a loaded tensor's name that of a saved one, and how many it is so for.
using Around = std::map<std::string, std::size_t>;

class Matching {
 public:
  Matching(const Checkpoint& loaded, const Checkpoint& saved) : loaded_(loaded), saved_(saved) {}

  LoadedState matched() {
    LoadedState state;
    state.subject = loaded_;
    state.reference = saved_;
    state.reference.values.clear();
    match_states();
    match_parameters();
    std::erase_if(state.subject.tensors, [&](const Tensor& tensor) { return !names_.contains(tensor.name); });
    for (Tensor& tensor : state.subject.tensors) tensor.name = names_[tensor.name];
    state.subject.sort();
    std::erase_if(state.reference.tensors, [&](const Tensor& tensor) {
      const bool seen = is_seen(tensor.name);
      if (!seen) state.unseen.push_back(tensor.name);
      return !seen;
    });
    return state;
  }

 private:
  // Each optimizer that was loaded is that one of the file with which it has most in common.
  void match_states() {
    std::map<std::string, std::map<std::string, const Tensor*>> mine;
    std::map<std::string, std::map<std::string, const Tensor*>> theirs;
    for (const Tensor& tensor : loaded_.tensors) {
      if (const Place place = state_place(tensor.name); !place.name.empty()) mine[place.around][place.name] = &tensor;
    }
    for (const Tensor& tensor : saved_.tensors) {
      if (const Place place = state_place(tensor.name); !place.name.empty()) theirs[place.around][place.name] = &tensor;
    }
    for (const auto& [around, tensors] : mine) {
      const std::string* best = nullptr;
      std::size_t most = 0;
      for (const auto& [other, its] : theirs) {
        if (state_around_.contains(other)) continue;
        const std::size_t alike = likeness(tensors, its);
        if (best == nullptr || alike > most) best = &other;
        most = std::max(most, alike);
      }
      if (best == nullptr) continue;
      state_around_.insert(*best);
      for (const auto& [name, tensor] : tensors) names_[tensor->name] = *best + name;
    }
    // A load without any state, of an optimizer that has some in the file, is one that lost it.
    if (mine.empty() && theirs.size() == 1) state_around_.insert(theirs.begin()->first);
  }

  static std::size_t likeness(const std::map<std::string, const Tensor*>& mine,
                              const std::map<std::string, const Tensor*>& theirs) {
    std::size_t alike = 0;
    for (const auto& [name, tensor] : mine) {
      const auto found = theirs.find(name);
      if (found == theirs.end()) continue;
      alike += 1U + (found->second->shape == tensor->shape ? 1U : 0U) + (equal_bits(*tensor, *found->second) ? 2U : 0U);
    }
    return alike;
  }

  void match_parameters() {
    for (const Tensor& tensor : saved_.tensors) {
      if (state_key(tensor.name)) continue;
      const std::string name = unwrapped(tensor.name);
      for (std::size_t at = 0; at != std::string::npos; at = next_part(name, at))
        by_end_.emplace(name.substr(at), &tensor);
    }
    for (const Tensor& tensor : loaded_.tensors) {
      if (state_key(tensor.name)) continue;
      const auto [first, end] = by_end_.equal_range(tensor.name);
      for (auto at = first; at != end; ++at) ++around_[around(*at->second, tensor)];
    }
    for (const Tensor& tensor : loaded_.tensors) {
      if (state_key(tensor.name)) continue;
      if (const Tensor* its = saved_as(tensor); its != nullptr) {
        names_[tensor.name] = its->name;
        taken_.insert(its->name);
        first_parts_.insert(first_part(tensor.name));
        parameter_around_.insert(around(*its, tensor));
        parameters_.insert(tensor.name);
      }
    }
  }

  static std::size_t next_part(const std::string& name, std::size_t at) {
    const std::size_t dot = name.find('.', at);
    return dot == std::string::npos ? dot : dot + 1;
  }

  static std::string around(const Tensor& saved, const Tensor& loaded) {
    const std::string name = unwrapped(saved.name);
    return name.substr(0, name.size() - loaded.name.size());
  }

  static std::string first_part(const std::string& name) { return name.substr(0, name.find('.')); }

  const Tensor* saved_as(const Tensor& loaded) const {
    const Tensor* best = nullptr;
    const auto [first, end] = by_end_.equal_range(loaded.name);
    for (auto at = first; at != end; ++at) {
      if (equal_bits(loaded, *at->second)) return at->second;
      if (best == nullptr || around_.at(around(*at->second, loaded)) > around_.at(around(*best, loaded)))
        best = at->second;
    }
    return best;
  }

  // Could a load show it? Of a model that was loaded each tensor of the file that no load has is missing.
  bool is_seen(const std::string& name) const {
    if (const Place place = state_place(name); !place.name.empty()) return state_around_.contains(place.around);
    if (state_key(name)) return false;
    const std::string bare = unwrapped(name);
    return std::any_of(parameter_around_.begin(), parameter_around_.end(), [&](const std::string& around) {
      if (!bare.starts_with(around)) return false;
      const std::string rest = bare.substr(around.size());
      if (parameters_.contains(rest)) return taken_.contains(name);
      // At the top of a file there may be more than the model.
      return !around.empty() || first_parts_.contains(first_part(rest));
    });
  }

  const Checkpoint& loaded_;
  const Checkpoint& saved_;
  std::multimap<std::string, const Tensor*> by_end_;  // saved parameters by each end of their names
  Around around_;
  std::map<std::string, std::string> names_;  // of loaded tensors: what the file calls them
  std::set<std::string> taken_;               // saved parameters that a loaded one stands for
  std::set<std::string> parameters_;          // loaded, as the load calls them
  std::set<std::string> first_parts_;         // of their names
  std::set<std::string> parameter_around_;
  std::set<std::string> state_around_;
};

}  // namespace

LoadedState as_saved(const Checkpoint& loaded, const Checkpoint& saved) { return Matching(loaded, saved).matched(); }

std::vector<reader::NamedValue> loaded_betas(const reader::RunCaptures& captures, int rank) {
  std::vector<reader::NamedValue> values;
  const auto add = [&](const reader::Capture& note) {
    const std::vector<Detail> groups = Detail(note.detail).objects("groups");
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto betas = groups[group].numbers("betas");
      for (std::size_t i = 0; i < betas.size(); ++i) {
        if (betas[i]) values.push_back({fmt::format("optimizer.param_groups.{}.betas.{}", group, i), *betas[i]});
      }
    }
  };
  std::vector<std::int64_t> steps = captures.steps();
  steps.insert(steps.begin(), -1);
  for (const std::int64_t step : steps) {
    for (const reader::Capture* note : captures.select("load.note", step, "Optimizer.load_state_dict", rank))
      add(*note);
  }
  return values;
}

}  // namespace plumbline::checks
