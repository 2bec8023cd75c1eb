#include "reader/group_key.hpp"

namespace plumbline::reader {

std::string group_key(const Trace& trace, const Group& group) {
  std::string key = std::to_string(trace.launch()) + '/' + std::to_string(trace.attempt()) + '/' + group.name;
  for (const int rank : group.ranks) (key += ',') += std::to_string(rank);
  return key;
}

}  // namespace plumbline::reader
