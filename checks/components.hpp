// Strongly connected components of a directed graph: the circles in a wait-for graph, and its dead ends.
#pragma once

#include <cstddef>
#include <vector>

namespace plumbline::checks {

struct Components {
  std::vector<std::size_t> of;                     // vertex → component
  std::vector<std::vector<std::size_t>> vertices;  // component → vertices

  // Components without an edge to another one.
  std::vector<std::size_t> sinks(const std::vector<std::vector<std::size_t>>& edges) const;
};

Components components_of(const std::vector<std::vector<std::size_t>>& edges);

}  // namespace plumbline::checks
