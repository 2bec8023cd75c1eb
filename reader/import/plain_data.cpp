#include "reader/import/plain_data.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace plumbline::reader::imports {
namespace {

constexpr std::int64_t kMostNarrow = (std::int64_t{1} << 55) - 1;

}  // namespace

std::optional<std::int64_t> PlainData::integer(Value value) const {
  switch (value.type()) {
    case ValueType::kBool:
      return static_cast<std::int64_t>(value.payload());
    case ValueType::kInt:
      return static_cast<std::int64_t>(value.payload() << 8) >> 8;  // the sign is in bit 55
    case ValueType::kWideInt:
      return static_cast<std::int64_t>(wide_[value.payload()]);
    case ValueType::kText: {
      const std::string_view digits = text(value);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
      return number;
    }
    default:
      return std::nullopt;
  }
}

double PlainData::number_or(Value value, double otherwise) const {
  if (value.type() == ValueType::kFloat) return std::bit_cast<double>(wide_[value.payload()]);
  const auto whole = integer(value);
  return whole ? static_cast<double>(*whole) : otherwise;
}

std::string_view PlainData::text(Value value) const {
  return value.is_text() ? texts_[value.payload()] : std::string_view{};
}

std::span<const Value> PlainData::items(Value value) const {
  if (!value.is_list() && !value.is_dict()) return {};
  const Container& container = containers_[value.payload()];
  return {pool_.data() + container.offset, container.size};
}

Value PlainData::member(Value dict, std::string_view key) const {
  if (!dict.is_dict()) return {};
  const std::span<const Value> pairs = items(dict);
  for (std::size_t at = pairs.size() & ~std::size_t{1}; at >= 2; at -= 2) {
    if (text(pairs[at - 2]) == key && pairs[at - 2].is_text()) return pairs[at - 1];
  }
  return {};
}

Value PlainData::make_int(std::int64_t value) {
  if (value >= -kMostNarrow && value <= kMostNarrow) return {ValueType::kInt, static_cast<std::uint64_t>(value)};
  wide_.push_back(static_cast<std::uint64_t>(value));
  return {ValueType::kWideInt, wide_.size() - 1};
}

Value PlainData::make_float(double value) {
  wide_.push_back(std::bit_cast<std::uint64_t>(value));
  return {ValueType::kFloat, wide_.size() - 1};
}

Value PlainData::make_text(std::string_view text) {
  texts_.push_back(text);
  return {ValueType::kText, texts_.size() - 1};
}

Value PlainData::make_name(std::string_view name) {
  texts_.push_back(name);
  return {ValueType::kName, texts_.size() - 1};
}

Value PlainData::make_object(Value callee, Value arguments) {
  const Value object = make_container(ValueType::kObject);
  Value parts[kParts];
  parts[kCallee] = callee;
  parts[kArguments] = arguments;
  append(object, parts);
  return object;
}

Value PlainData::part(Value object, Part which) const {
  if (!object.is_object()) return {};
  return pool_[containers_[object.payload()].offset + which];
}

void PlainData::set_part(Value object, Part which, Value value) {
  if (object.is_object()) pool_[containers_[object.payload()].offset + which] = value;
}

Value PlainData::items_of(Value object, bool dict) {
  const Part which = dict ? kEntries : kElements;
  if (part(object, which).is_none()) set_part(object, which, dict ? make_dict() : make_list());
  return part(object, which);
}

Value PlainData::make_container(ValueType type) {
  containers_.emplace_back();
  return {type, containers_.size() - 1};
}

void PlainData::append(Value target, std::span<const Value> values) {
  Container& container = containers_[target.payload()];
  const std::size_t size = container.size + values.size();
  if (size > container.capacity) {
    // What grows at the end of the pool grows in place; what is elsewhere moves there, with room to grow.
    const bool at_end = container.offset + container.capacity == pool_.size() && container.capacity != 0;
    const std::size_t capacity = container.capacity == 0 ? size : std::max(size, std::size_t{container.capacity} * 2);
    if (!at_end) {
      const std::size_t offset = pool_.size();
      pool_.resize(offset + capacity);
      std::copy_n(pool_.begin() + static_cast<std::ptrdiff_t>(container.offset), container.size,
                  pool_.begin() + static_cast<std::ptrdiff_t>(offset));
      container.offset = offset;
    } else {
      pool_.resize(container.offset + capacity);
    }
    container.capacity = static_cast<std::uint32_t>(capacity);
  }
  std::copy(values.begin(), values.end(),
            pool_.begin() + static_cast<std::ptrdiff_t>(container.offset + container.size));
  container.size = static_cast<std::uint32_t>(size);
}

}  // namespace plumbline::reader::imports
