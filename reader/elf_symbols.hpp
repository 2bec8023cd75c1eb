// The functions of an ELF file by address, and its build id: what names the frames of native stacks.
//
//   const auto symbols = ElfSymbols::open("/lib/libc.so.6");
//   if (symbols.ok() && symbols->build_id() == module.build_id) name = symbols->function_at(file_offset);
//
// 64-bit little-endian files. A damaged one gives fewer names, or none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/status.hpp"

namespace plumbline::reader {

class ElfSymbols {
 public:
  static Result<ElfSymbols> open(const std::string& path);

  const std::string& build_id() const { return build_id_; }  // hexadecimal, empty: none
  // Name of the function at an offset of the file, as it is mangled; empty when none covers it.
  std::string_view function_at(std::uint64_t file_offset) const;

 private:
  struct Symbol {
    std::uint64_t address;
    std::uint64_t size;
    std::uint32_t name;  // in names_
  };
  struct Segment {
    std::uint64_t file_offset;
    std::uint64_t bytes;
    std::uint64_t address;
  };

  std::string build_id_;
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_;  // by address
  std::string names_;
};

// What a C++ compiler meant; the name itself when it is not one of C++.
std::string demangled(std::string_view name);

}  // namespace plumbline::reader
