// Stacks, equal ones taken together, as text.
#pragma once

#include <string>
#include <vector>

#include "reader/stacks.hpp"
#include "tools/run_reader/style.hpp"

namespace plumbline::tools {

class StackGroups {
 public:
  // `seconds`: when it was taken, since the run's start.
  void add(int rank, double seconds, reader::Stack stack);

  bool empty() const { return groups_.empty(); }
  // Those of training threads first, then those with Python frames, then the others; what most ranks share last among
  // equals, since the odd one out is what one looks for.
  std::string text(const Style& style) const;

 private:
  struct Group {
    reader::Stack stack;
    std::vector<int> ranks;
    double first_s = 0;
    double last_s = 0;
    std::size_t looks = 0;
  };
  static std::string heading(const Group& group);

  std::vector<Group> groups_;
};

}  // namespace plumbline::tools
