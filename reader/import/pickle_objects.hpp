// What a pickle's call of a Python name is as data.
#pragma once

#include <string_view>

#include "reader/import/plain_data.hpp"

namespace plumbline::reader::imports {

// The class name of an object that the pickle refers to by an id of its own: a storage of a PyTorch checkpoint.
inline constexpr std::string_view kPersistent = "persistent";

// Dictionaries, sets and sizes by another name become dictionaries and lists, a parameter becomes its tensor; all else
// an object with its name and arguments. Nothing is called.
Value as_data(PlainData& data, Value callee, Value arguments);

}  // namespace plumbline::reader::imports
