#include "reader/import/pickle_opcodes.hpp"

#include <algorithm>

namespace plumbline::reader::imports {

std::string_view meaning_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kGlobal:
    case Opcode::kStackGlobal:
    case Opcode::kExt1:
    case Opcode::kExt2:
    case Opcode::kExt4:
      return "import a Python name";
    case Opcode::kReduce:
    case Opcode::kInst:
    case Opcode::kObj:
    case Opcode::kNewObj:
    case Opcode::kNewObjEx:
      return "build a Python object by a call";
    case Opcode::kBuild:
      return "set the state of a Python object";
    case Opcode::kPersId:
    case Opcode::kBinPersId:
      return "load an object from outside of the file, as a PyTorch checkpoint does";
    case Opcode::kEmptySet:
    case Opcode::kAddItems:
    case Opcode::kFrozenSet:
      return "build a set";
    case Opcode::kByteArray8:
    case Opcode::kNextBuffer:
    case Opcode::kReadonlyBuffer:
      return "build a byte array";
    case Opcode::kInt:
    case Opcode::kLong:
    case Opcode::kString:
    case Opcode::kUnicode:
    case Opcode::kFloat:
    case Opcode::kGet:
    case Opcode::kPut:
      return "use an instruction of the text protocols 0 and 1";
    default:
      return {};
  }
}

std::string names_at(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kLongest = 200;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kLongest));
  const std::size_t module_end = text.find('\n');
  if (module_end == std::string_view::npos) return {};
  const std::string_view rest = text.substr(module_end + 1);
  return shown(text.substr(0, module_end)) + "." + shown(rest.substr(0, rest.find('\n')));
}

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string result(text.substr(0, kLongest));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kLongest ? result + ".." : result;
}

std::string hex_text(std::uint8_t byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  return {kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace plumbline::reader::imports
