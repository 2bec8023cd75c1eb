#include "reader/import/json_document.hpp"

#include <charconv>
#include <string>
#include <vector>

#include "reader/import/json_reader.hpp"

namespace plumbline::reader::imports {
namespace {

// Values that are open at once: the stack is ours, but a file that nests deeper is none of those that are read so.
constexpr int kMostDepth = 100;

class Builder {
 public:
  Builder(JsonReader& json, PlainData& data) : json_(json), data_(data) {}

  Value value(int depth) {
    switch (json_.type()) {
      case JsonType::kObject:
        return container(depth, true);
      case JsonType::kArray:
        return container(depth, false);
      case JsonType::kText:
        return data_.make_text(data_.keep(std::string(json_.text())));
      case JsonType::kTrue:
        json_.skip();
        return data_.make_bool(true);
      case JsonType::kFalse:
        json_.skip();
        return data_.make_bool(false);
      case JsonType::kNumber:
        return number(json_.number());
      default:
        json_.skip();
        return {};
    }
  }

  bool too_deep() const { return too_deep_; }

 private:
  Value number(std::string_view text) {
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (error == std::errc{} && end == text.data() + text.size()) return data_.make_int(whole);
    double real = 0;
    std::from_chars(text.data(), text.data() + text.size(), real);
    return data_.make_float(real);
  }

  Value container(int depth, bool dict) {
    const Value result = dict ? data_.make_dict() : data_.make_list();
    if (depth >= kMostDepth) {
      too_deep_ = true;
      json_.skip();
      return result;
    }
    std::vector<Value> members;
    if (dict && json_.enter_object()) {
      for (std::string_view key; json_.next_key(key);) {
        members.push_back(data_.make_text(data_.keep(std::string(key))));
        members.push_back(value(depth + 1));
      }
    } else if (json_.enter_array()) {
      while (json_.next_element()) members.push_back(value(depth + 1));
    }
    data_.append(result, members);
    return result;
  }

  JsonReader& json_;
  PlainData& data_;
  bool too_deep_ = false;
};

}  // namespace

Result<PlainData> read_json_document(ByteSource& source) {
  PlainData data;
  JsonReader json(source);
  Builder builder(json, data);
  data.set_root(builder.value(0));
  if (!json.ok()) return json.status();
  if (builder.too_deep()) return Status(Code::kForeign, source.path() + " nests more than 100 values deep.");
  return data;
}

}  // namespace plumbline::reader::imports
