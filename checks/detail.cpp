#include "checks/detail.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace plumbline::checks {

struct Detail::Node {
  explicit Node(nlohmann::json from) : json(std::move(from)) {}

  nlohmann::json json;

  const nlohmann::json* at(std::string_view key) const {
    if (!json.is_object()) return nullptr;
    const auto found = json.find(std::string(key));
    return found != json.end() ? &*found : nullptr;
  }
};

namespace {

// JSON has no words for what is not finite: writers put them in as texts.
std::optional<double> number_of(const nlohmann::json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_boolean()) return json.get<bool>() ? 1 : 0;
  if (!json.is_string()) return std::nullopt;
  const auto& text = json.get_ref<const std::string&>();
  if (text == "inf" || text == "Infinity") return HUGE_VAL;
  if (text == "-inf" || text == "-Infinity") return -HUGE_VAL;
  if (text == "nan" || text == "NaN") return std::nan("");
  return std::nullopt;
}

}  // namespace

Detail::Detail(std::string_view json) : node_(std::make_unique<Node>(nlohmann::json::parse(json, nullptr, false))) {}
Detail::Detail(std::unique_ptr<Node> node) : node_(std::move(node)) {}
Detail::~Detail() = default;
Detail::Detail(Detail&&) noexcept = default;
Detail& Detail::operator=(Detail&&) noexcept = default;

bool Detail::has(std::string_view key) const {
  const auto* found = node_->at(key);
  return found != nullptr && !found->is_null();
}

std::optional<double> Detail::number(std::string_view key) const {
  const auto* found = node_->at(key);
  return found != nullptr ? number_of(*found) : std::nullopt;
}

bool Detail::flag(std::string_view key) const { return number(key).value_or(0) != 0; }

std::string Detail::text(std::string_view key) const {
  const auto* found = node_->at(key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> Detail::texts(std::string_view key) const {
  std::vector<std::string> result;
  const auto* found = node_->at(key);
  if (found == nullptr || !found->is_array()) return result;
  for (const auto& one : *found) result.push_back(one.is_string() ? one.get<std::string>() : std::string());
  return result;
}

std::vector<std::optional<double>> Detail::numbers(std::string_view key) const {
  std::vector<std::optional<double>> result;
  const auto* found = node_->at(key);
  if (found == nullptr || !found->is_array()) return result;
  for (const auto& one : *found) result.push_back(number_of(one));
  return result;
}

Detail Detail::object(std::string_view key) const {
  const auto* found = node_->at(key);
  return Detail(std::make_unique<Node>(found != nullptr ? *found : nlohmann::json()));
}

std::vector<Detail> Detail::objects(std::string_view key) const {
  std::vector<Detail> result;
  const auto* found = node_->at(key);
  if (found == nullptr || !found->is_array()) return result;
  for (const auto& one : *found) result.push_back(Detail(std::make_unique<Node>(one)));
  return result;
}

}  // namespace plumbline::checks
