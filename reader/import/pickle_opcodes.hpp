// The instructions of pickle, and in words what those would do that are not carried out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace plumbline::reader::imports {

enum class Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kNone = 'N',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kBinFloat = 'G',
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kBinBytes8 = 0x8e,
  kEmptyDict = '}',
  kDict = 'd',
  kEmptyList = ']',
  kList = 'l',
  kAppend = 'a',
  kAppends = 'e',
  kSetItem = 's',
  kSetItems = 'u',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kBinPut = 'q',
  kLongBinPut = 'r',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kMemoize = 0x94,
  kProto = 0x80,
  kFrame = 0x95,
  // Never carried out:
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kBuild = 'b',
  kInst = 'i',
  kObj = 'o',
  kNewObj = 0x81,
  kNewObjEx = 0x92,
  kPersId = 'P',
  kBinPersId = 'Q',
  kExt1 = 0x82,
  kExt2 = 0x83,
  kExt4 = 0x84,
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kByteArray8 = 0x96,
  kNextBuffer = 0x97,
  kReadonlyBuffer = 0x98,
  kInt = 'I',
  kLong = 'L',
  kString = 'S',
  kUnicode = 'V',
  kFloat = 'F',
  kGet = 'g',
  kPut = 'p',
};

// "import a name": follows "the pickle would"; empty for a byte that is no instruction.
std::string_view meaning_of(Opcode opcode);

// The "module.name" that follow a kGlobal, made safe to show.
std::string names_at(std::span<const std::uint8_t> bytes);

// A text from a file that is not to be trusted: short, and printable.
std::string shown(std::string_view text);

std::string hex_text(std::uint8_t byte);

}  // namespace plumbline::reader::imports
