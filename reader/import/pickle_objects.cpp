#include "reader/import/pickle_objects.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace plumbline::reader::imports {
namespace {

constexpr std::array<std::string_view, 4> kDicts = {"collections.OrderedDict", "collections.defaultdict",
                                                    "builtins.dict", "__builtin__.dict"};
// Of which the first argument is all that is asked for.
constexpr std::array<std::string_view, 9> kWrappers = {"torch._utils._rebuild_parameter",
                                                       "torch._utils._rebuild_parameter_with_state",
                                                       "torch.Size",  // of a tuple
                                                       "builtins.set",
                                                       "__builtin__.set",
                                                       "builtins.frozenset",
                                                       "__builtin__.frozenset",
                                                       "builtins.bytearray",
                                                       "_codecs.encode"};  // bytes, as protocol 2 writes them

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Value dict_of(PlainData& data, Value arguments) {
  std::vector<Value> entries;
  if (const auto given = data.items(arguments); !given.empty()) {
    for (const Value pair : data.items(given[0])) {
      const auto both = data.items(pair);
      if (pair.is_list() && both.size() == 2) entries.insert(entries.end(), both.begin(), both.end());
    }
  }
  const Value dict = data.make_dict();
  data.append(dict, entries);
  return dict;
}

}  // namespace

Value as_data(PlainData& data, Value callee, Value arguments) {
  const std::string_view name = data.name(callee);
  if (contains(kDicts, name)) return dict_of(data, arguments);
  const auto given = data.items(arguments);
  if (contains(kWrappers, name) && !given.empty()) return given[0];
  // A tensor of a subclass: the function and the arguments that make the plain one.
  constexpr std::size_t kFunction = 0;
  constexpr std::size_t kItsArguments = 2;
  if (name == "torch._tensor._rebuild_from_type_v2" && given.size() > kItsArguments) {
    return data.make_object(given[kFunction], given[kItsArguments]);
  }
  return data.make_object(callee, arguments);
}

}  // namespace plumbline::reader::imports
