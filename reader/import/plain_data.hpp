// Plain data as pickle and JSON files hold it: none, truth values, numbers, texts, lists and dictionaries.
//
//   const PlainData& data = …;
//   for (const Value entry : data.items(data.member(data.root(), "entries")))
//     use(data.text(data.member(entry, "state")), data.integer(data.member(entry, "record_id")));
//
// A value is 8 bytes and refers to its data, so that what a pickle shares (the stack frames of a memory snapshot, say)
// stays shared: nothing is expanded. Data may therefore contain itself; a reader follows the members that it knows and
// never walks blindly. Asking a value for what it is not gives the empty answer, so files may lack any field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumbline::reader::imports {

enum class ValueType : std::uint8_t { kNone, kBool, kInt, kWideInt, kFloat, kText, kList, kDict, kName, kObject };

class Value {
 public:
  constexpr Value() = default;
  constexpr ValueType type() const { return static_cast<ValueType>(bits_ >> kShift); }
  constexpr bool is_none() const { return type() == ValueType::kNone; }
  constexpr bool is_list() const { return type() == ValueType::kList; }
  constexpr bool is_dict() const { return type() == ValueType::kDict; }
  constexpr bool is_text() const { return type() == ValueType::kText; }
  constexpr bool is_object() const { return type() == ValueType::kObject; }

 private:
  friend class PlainData;
  static constexpr unsigned kShift = 56;
  constexpr Value(ValueType type, std::uint64_t payload)
      : bits_(static_cast<std::uint64_t>(type) << kShift | (payload & ((std::uint64_t{1} << kShift) - 1))) {}
  constexpr std::uint64_t payload() const { return bits_ & ((std::uint64_t{1} << kShift) - 1); }

  std::uint64_t bits_ = 0;
};
static_assert(sizeof(Value) == 8);

class PlainData {
 public:
  Value root() const { return root_; }

  // Whole numbers and truth values; of a text of digits, as JSON dumps write some numbers, its number.
  std::optional<std::int64_t> integer(Value value) const;
  std::int64_t integer_or(Value value, std::int64_t otherwise) const { return integer(value).value_or(otherwise); }
  double number_or(Value value, double otherwise) const;  // of a whole number or a float
  bool truth(Value value) const { return value.type() == ValueType::kBool && value.payload() != 0; }
  std::string_view text(Value value) const;
  // Elements of a list; of a dictionary keys and values in turn.
  std::span<const Value> items(Value value) const;
  // None when the dictionary has no such key. Of a key that occurs twice the last value counts.
  Value member(Value dict, std::string_view key) const;
  bool has(Value dict, std::string_view key) const { return !member(dict, key).is_none(); }
  // A number that is the same for two values exactly when they are the same list or dictionary; others give 0.
  std::uint64_t identity(Value value) const { return is_container(value) ? value.payload() + 1 : 0; }

  // Of a pickle that was read with its objects as data (pickle.hpp). A name is that of a Python class or function,
  // "torch.float32"; an object is what a call of such a name with these arguments would have made.
  std::string_view name(Value value) const { return value.type() == ValueType::kName ? texts_[value.payload()] : ""; }
  std::string_view class_name(Value object) const { return name(part(object, kCallee)); }
  std::span<const Value> arguments(Value object) const { return items(part(object, kArguments)); }
  Value state(Value object) const { return part(object, kState); }      // that was set afterwards
  Value entries(Value object) const { return part(object, kEntries); }  // a dictionary: items that were set

  // Building. A text is kept by reference: it has to outlive the data, unless keep() has made it the data's own.
  Value make_bool(bool value) const { return {ValueType::kBool, value ? 1U : 0U}; }
  Value make_int(std::int64_t value);
  Value make_float(double value);
  Value make_text(std::string_view text);
  Value make_list() { return make_container(ValueType::kList); }
  Value make_dict() { return make_container(ValueType::kDict); }
  Value make_name(std::string_view name);  // by reference, as a text
  Value make_object(Value callee, Value arguments);
  void set_state(Value object, Value state) { set_part(object, kState, state); }
  // The object's list or dictionary of items, made at its first use.
  Value items_of(Value object, bool dict);
  void append(Value container, std::span<const Value> values);
  std::string_view keep(std::string text) { return kept_.emplace_back(std::move(text)); }
  // Bytes that texts of this data lie in.
  void own(std::vector<std::uint8_t> bytes) { bytes_ = std::move(bytes); }
  void set_root(Value root) { root_ = root; }

 private:
  struct Container {
    std::uint64_t offset = 0;  // in pool_
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };

  // What the container of an object holds.
  enum Part : std::size_t { kCallee, kArguments, kState, kEntries, kElements, kParts };

  static bool is_container(Value value) { return value.is_list() || value.is_dict() || value.is_object(); }
  Value make_container(ValueType type);
  Value part(Value object, Part which) const;
  void set_part(Value object, Part which, Value value);

  Value root_;
  std::vector<std::uint64_t> wide_;  // numbers that do not fit a value: whole ones, and floats as their bits
  std::vector<std::string_view> texts_;
  std::vector<Container> containers_;
  std::vector<Value> pool_;
  std::deque<std::string> kept_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace plumbline::reader::imports
