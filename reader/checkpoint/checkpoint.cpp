#include "reader/checkpoint/checkpoint.hpp"

#include <algorithm>
#include <charconv>

namespace plumbline::reader {
namespace {

template <class Named>
const Named* find_named(const std::vector<Named>& sorted, std::string_view name) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), name,
                                      [](const Named& one, std::string_view key) { return one.name < key; });
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

template <class Named>
void sort_by_name(std::vector<Named>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
}

struct ScalarText {
  std::string operator()(std::monostate) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
    return {text, end};
  }
  std::string operator()(const std::string& value) const { return '"' + value + '"'; }
};

}  // namespace

const Tensor* Checkpoint::find(std::string_view name) const { return find_named(tensors, name); }

const Scalar* Checkpoint::value(std::string_view name) const {
  const NamedValue* found = find_named(values, name);
  return found == nullptr ? nullptr : &found->value;
}

const CheckpointFile* Checkpoint::file(std::string_view name) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.name == name; });
  return found == files.end() ? nullptr : &*found;
}

std::uint64_t Checkpoint::total_bytes() const {
  std::uint64_t total = 0;
  for (const Tensor& tensor : tensors) total += tensor.bytes.size();
  return total;
}

void Checkpoint::sort() {
  sort_by_name(tensors);
  sort_by_name(values);
  const auto second = [&](const Tensor& one, const Tensor& next) {
    if (one.name != next.name) return false;
    const std::string& first_file = files[one.file].name;
    const std::string& file = files[next.file].name;
    problems.push_back({ProblemKind::kTwice, file, next.name,
                        path + ": " + next.name + " is in two files, " + first_file + " and " + file +
                            ": which one is loaded depends on the loader; remove one."});
    return true;
  };
  tensors.erase(std::unique(tensors.begin(), tensors.end(), second), tensors.end());
}

std::string scalar_text(const Scalar& value) { return std::visit(ScalarText{}, value); }

}  // namespace plumbline::reader
