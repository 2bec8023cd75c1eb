#include "reader/import/pickle.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "reader/import/pickle_objects.hpp"
#include "reader/import/pickle_opcodes.hpp"

namespace plumbline::reader::imports {
namespace {

constexpr std::uint8_t kNewestProtocol = 5;
// Containers that are open at once. Dumps nest five deep.
constexpr std::size_t kMostMarks = 1000;

class PickleReader {
 public:
  PickleReader(std::string_view path, std::span<const std::uint8_t> bytes, Objects objects, PlainData& data)
      : path_(path), bytes_(bytes), objects_(objects), data_(data) {}

  Status read() {
    while (!done_ && error_.empty()) {
      opcode_at_ = at_;
      if (at_ == bytes_.size()) {
        fail("the file ends here, in the middle of its data: it was cut off, or is still being written");
        break;
      }
      step(static_cast<Opcode>(bytes_[at_++]));
    }
    if (error_.empty()) return {};
    return {Code::kDamaged, std::string(path_) + ", byte " + std::to_string(opcode_at_) + ": " + error_ + "."};
  }

 private:
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }

  // Arguments in the file, little-endian; zero after a failure.
  template <class Number>
  Number number() {
    Number value{};
    const std::span<const std::uint8_t> raw = take(sizeof(Number));
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof(Number));
    return value;
  }

  std::span<const std::uint8_t> take(std::uint64_t size) {
    if (size > bytes_.size() - at_) {
      fail("the file ends here, in the middle of a value: it was cut off, or is still being written");
      at_ = bytes_.size();
      return {};
    }
    const auto raw = bytes_.subspan(at_, size);
    at_ += size;
    return raw;
  }

  void push_text(std::uint64_t size) {
    const std::span<const std::uint8_t> raw = take(size);
    push(data_.make_text({reinterpret_cast<const char*>(raw.data()), raw.size()}));
  }

  void push(Value value) { stack_.push_back(value); }

  // The topmost value above the last mark.
  Value* top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      fail("an instruction takes a value that is not there: this is not a pickle, or it is damaged");
      return nullptr;
    }
    return &stack_.back();
  }

  Value pop() {
    const Value* value = top();
    if (value == nullptr) return {};
    const Value popped = *value;
    stack_.pop_back();
    return popped;
  }

  // The values above the last mark, valid until the next push; they and the mark are taken off.
  std::span<const Value> pop_to_mark() {
    if (marks_.empty()) {
      fail("an instruction ends a list that was not begun: this is not a pickle, or it is damaged");
      return {};
    }
    const std::size_t from = marks_.back();
    marks_.pop_back();
    const std::span<const Value> values(stack_.data() + from, stack_.size() - from);
    stack_.resize(from);
    return values;
  }

  void extend(ValueType wanted, std::span<const Value> values) {
    const Value* found = top();
    if (found == nullptr) return;
    const Value target = found->is_object() ? data_.items_of(*found, wanted == ValueType::kDict) : *found;
    if (target.type() != wanted) return fail("values are put into what is no container of theirs: it is damaged");
    if (wanted == ValueType::kDict && values.size() % 2 != 0) return fail("a key has no value: it is damaged");
    data_.append(target, values);
  }

  void push_list(std::span<const Value> values) {
    const Value list = data_.make_list();
    data_.append(list, values);
    push(list);
  }

  void push_tuple(std::size_t size) {
    Value values[3];
    for (std::size_t i = size; i > 0; --i) values[i - 1] = pop();
    push_list({values, size});
  }

  void push_long(std::uint64_t size) {
    const std::span<const std::uint8_t> raw = take(size);
    if (size > 9 || (size == 9 && !raw.empty() && raw[8] != 0)) {
      if (objects_ == Objects::kRefused) return fail("a number is longer than 64 bits, which no dump has");
      // States of random generators have such; to tell them apart their bytes do.
      return push(data_.make_text({reinterpret_cast<const char*>(raw.data()), raw.size()}));
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < raw.size() && i < 8; ++i) value |= static_cast<std::uint64_t>(raw[i]) << (8 * i);
    if (!raw.empty() && raw.size() < 8 && (raw.back() & 0x80) != 0) value |= ~std::uint64_t{0} << (8 * raw.size());
    push(data_.make_int(static_cast<std::int64_t>(value)));
  }

  void push_big_endian_float() {
    const std::span<const std::uint8_t> raw = take(8);
    std::uint64_t bits = 0;
    for (const std::uint8_t byte : raw) bits = bits << 8 | byte;
    push(data_.make_float(std::bit_cast<double>(bits)));
  }

  void put(std::uint64_t index) {
    const Value* value = top();
    if (value == nullptr) return;
    // Every entry takes an instruction, so there cannot be more of them than bytes.
    if (index >= bytes_.size()) return fail("a memo entry is numbered beyond the file's size: it is damaged");
    if (index >= memo_.size()) memo_.resize(index + 1);
    memo_[index] = *value;
  }

  void get(std::uint64_t index) {
    if (index >= memo_.size()) return fail("a memo entry is used that was never made: it is damaged");
    push(memo_[index]);
  }

  // "module\nname\n".
  void push_global() {
    std::string name;
    for (const char end : {'.', '\0'}) {
      std::size_t at = at_;
      while (at < bytes_.size() && bytes_[at] != '\n') ++at;
      const auto line = take(at - at_);
      name.append(reinterpret_cast<const char*>(line.data()), line.size());
      take(1);
      if (end != '\0') name.push_back(end);
    }
    push(data_.make_name(data_.keep(std::move(name))));
  }

  void push_stack_global() {
    const Value name = pop();
    const Value module = pop();
    if (!name.is_text() || !module.is_text()) return fail("a name is no text: it is damaged");
    push(data_.make_name(data_.keep(std::string(data_.text(module)) + "." + std::string(data_.text(name)))));
  }

  void push_call() {
    const Value arguments = pop();
    const Value callee = pop();
    push(as_data(data_, callee, arguments));
  }

  void set_state() {
    const Value state = pop();
    if (const Value* object = top(); object != nullptr) data_.set_state(*object, state);
  }

  void step(Opcode opcode);
  bool object_step(Opcode opcode);
  void refuse(Opcode opcode);

  std::string_view path_;
  std::span<const std::uint8_t> bytes_;
  Objects objects_;
  PlainData& data_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  bool done_ = false;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;  // heights of stack_
  std::vector<Value> memo_;
  std::uint64_t memoized_ = 0;
  std::string error_;
};

void PickleReader::step(Opcode opcode) {
  switch (opcode) {
    case Opcode::kProto:
      if (number<std::uint8_t>() > kNewestProtocol) fail("this is a pickle of a protocol newer than 5");
      return;
    case Opcode::kFrame:
      number<std::uint64_t>();
      return;
    case Opcode::kStop:
      data_.set_root(pop());
      done_ = true;
      return;
    case Opcode::kMark:
      if (marks_.size() >= kMostMarks) return fail("containers are nested more than 1000 deep, which no dump is");
      return marks_.push_back(stack_.size());
    case Opcode::kPop:
      pop();
      return;
    case Opcode::kPopMark:
      pop_to_mark();
      return;
    case Opcode::kDup:
      if (const Value* value = top(); value != nullptr) push(*value);
      return;
    case Opcode::kNone:
      return push({});
    case Opcode::kNewTrue:
      return push(data_.make_bool(true));
    case Opcode::kNewFalse:
      return push(data_.make_bool(false));
    case Opcode::kBinInt:
      return push(data_.make_int(number<std::int32_t>()));
    case Opcode::kBinInt1:
      return push(data_.make_int(number<std::uint8_t>()));
    case Opcode::kBinInt2:
      return push(data_.make_int(number<std::uint16_t>()));
    case Opcode::kLong1:
      return push_long(number<std::uint8_t>());
    case Opcode::kLong4:
      return push_long(number<std::uint32_t>());
    case Opcode::kBinFloat:
      return push_big_endian_float();
    case Opcode::kShortBinUnicode:
    case Opcode::kShortBinBytes:
    case Opcode::kShortBinString:
      return push_text(number<std::uint8_t>());
    case Opcode::kBinUnicode:
    case Opcode::kBinBytes:
    case Opcode::kBinString:
      return push_text(number<std::uint32_t>());
    case Opcode::kBinUnicode8:
    case Opcode::kBinBytes8:
      return push_text(number<std::uint64_t>());
    case Opcode::kEmptyList:
    case Opcode::kEmptyTuple:
      return push(data_.make_list());
    case Opcode::kEmptyDict:
      return push(data_.make_dict());
    case Opcode::kTuple1:
      return push_tuple(1);
    case Opcode::kTuple2:
      return push_tuple(2);
    case Opcode::kTuple3:
      return push_tuple(3);
    case Opcode::kTuple:
    case Opcode::kList:
      return push_list(pop_to_mark());
    case Opcode::kDict: {
      const std::span<const Value> values = pop_to_mark();
      if (values.size() % 2 != 0) return fail("a key has no value: it is damaged");
      const Value dict = data_.make_dict();
      data_.append(dict, values);
      return push(dict);
    }
    case Opcode::kAppend: {
      const Value value = pop();
      return extend(ValueType::kList, {&value, 1});
    }
    case Opcode::kAppends:
      return extend(ValueType::kList, pop_to_mark());
    case Opcode::kSetItem: {
      Value pair[2];
      pair[1] = pop();
      pair[0] = pop();
      return extend(ValueType::kDict, pair);
    }
    case Opcode::kSetItems:
      return extend(ValueType::kDict, pop_to_mark());
    case Opcode::kBinPut:
      return put(number<std::uint8_t>());
    case Opcode::kLongBinPut:
      return put(number<std::uint32_t>());
    case Opcode::kMemoize:
      return put(memoized_++);
    case Opcode::kBinGet:
      return get(number<std::uint8_t>());
    case Opcode::kLongBinGet:
      return get(number<std::uint32_t>());
    default:
      if (objects_ == Objects::kRefused || !object_step(opcode)) refuse(opcode);
  }
}

// Instructions that would make an object. False: it is none of those that checkpoints are written with.
bool PickleReader::object_step(Opcode opcode) {
  switch (opcode) {
    case Opcode::kGlobal:
      push_global();
      return true;
    case Opcode::kStackGlobal:
      push_stack_global();
      return true;
    case Opcode::kReduce:
    case Opcode::kNewObj:
      push_call();
      return true;
    case Opcode::kNewObjEx:
      pop();  // named arguments
      push_call();
      return true;
    case Opcode::kBuild:
      set_state();
      return true;
    case Opcode::kBinPersId:
      push(data_.make_object(data_.make_name(kPersistent), pop()));
      return true;
    case Opcode::kEmptySet:
      push(data_.make_list());
      return true;
    case Opcode::kAddItems:
      extend(ValueType::kList, pop_to_mark());
      return true;
    case Opcode::kFrozenSet:
      push_list(pop_to_mark());
      return true;
    case Opcode::kByteArray8:
      push_text(number<std::uint64_t>());
      return true;
    default:
      return false;
  }
}

void PickleReader::refuse(Opcode opcode) {
  const std::string_view meaning = meaning_of(opcode);
  if (meaning.empty())
    return fail("there is no pickle instruction 0x" + hex_text(static_cast<std::uint8_t>(opcode)) +
                ": this is not a pickle, or it is damaged");
  std::string what;
  if (opcode == Opcode::kGlobal) {
    what = names_at(bytes_.subspan(at_));
  } else if (opcode == Opcode::kStackGlobal && stack_.size() >= 2) {
    what = shown(data_.text(stack_[stack_.size() - 2])) + "." + shown(data_.text(stack_.back()));
  }
  fail("the pickle would " + std::string(meaning) + (what.empty() ? "" : " (" + what + ")") +
       "; only plain data is read from pickles, so nothing was carried out");
}

}  // namespace

bool starts_as_pickle(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 2 && bytes[0] == static_cast<std::uint8_t>(Opcode::kProto) && bytes[1] >= 2 && bytes[1] < 32;
}

Result<PlainData> read_pickle(std::string_view path, std::vector<std::uint8_t> bytes, Objects objects) {
  PlainData data;
  // The vector's memory stays where it is when the data takes it over, and with it the texts.
  const std::span<const std::uint8_t> view(bytes);
  data.own(std::move(bytes));
  if (Status status = PickleReader(path, view, objects, data).read(); !status.ok()) return status;
  return data;
}

}  // namespace plumbline::reader::imports
