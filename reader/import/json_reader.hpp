// Reads JSON from a stream, value by value, with memory for little more than the value in hand: files of many
// gigabytes, and files that end in the middle, are read up to where they go.
//
//   JsonReader json(source);
//   if (json.enter_object())
//     for (std::string_view key; json.next_key(key);)
//       if (key == "name") name = json.text(); else json.skip();
//   if (!json.ok()) complain(json.status().message());
//
// Every value must be read or skipped before the next is asked for. A view that a call returns lives until the next
// call. After a failure everything gives the empty answer and every loop ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/import/byte_source.hpp"
#include "reader/status.hpp"

namespace plumbline::reader::imports {

enum class JsonType : std::uint8_t { kObject, kArray, kText, kNumber, kTrue, kFalse, kNull, kEnd };

class JsonReader {
 public:
  explicit JsonReader(ByteSource& source);
  // Of a text in memory, such as what raw() gave.
  explicit JsonReader(std::string_view text) : data_(text.data()), end_(text.size()) {}
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;

  JsonType type();
  bool enter_object();                   // false: the next value is something else
  bool next_key(std::string_view& key);  // false: the object ended
  bool enter_array();
  bool next_element();  // false: the array ended
  // Reads on to the end of the object or array that was entered last.
  void leave();

  std::string_view text();    // of a text, with its escapes resolved
  std::string_view number();  // of a number, as it is written
  std::string_view raw();     // of any value: as it stands in the file
  void skip();

  bool ok() const { return error_.empty(); }
  // One sentence that names the file and the place.
  Status status() const;
  std::uint64_t offset() const { return base_ + at_; }

 private:
  void fail(std::string what);
  bool refill();  // false: there is nothing more
  bool skip_space();
  bool take(char wanted);
  bool next_member(char close);
  std::string_view string_token();
  std::string_view unescaped(std::string_view raw);
  void finish_brackets(std::uint64_t depth);

  ByteSource* source_ = nullptr;
  std::vector<char> window_;
  const char* data_ = nullptr;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t pin_ = ~std::size_t{0};  // what refill() must keep, and where it then is
  std::uint64_t base_ = 0;             // offset of data_ in the stream
  std::string scratch_;
  std::string error_;
};

}  // namespace plumbline::reader::imports
