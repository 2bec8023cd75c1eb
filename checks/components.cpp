#include "checks/components.hpp"

#include <algorithm>

namespace plumbline::checks {
namespace {

// Tarjan's algorithm, with a stack of its own: a chain of waits may be as long as there are ranks.
class Finder {
 public:
  explicit Finder(const std::vector<std::vector<std::size_t>>& edges)
      : edges_(edges), number_(edges.size(), kUnseen), low_(edges.size()), on_stack_(edges.size()) {
    components_.of.resize(edges.size());
  }

  Components run() {
    for (std::size_t vertex = 0; vertex < edges_.size(); ++vertex) {
      if (number_[vertex] == kUnseen) visit(vertex);
    }
    return std::move(components_);
  }

 private:
  static constexpr std::size_t kUnseen = static_cast<std::size_t>(-1);
  struct Step {
    std::size_t vertex = 0;
    std::size_t next_edge = 0;
  };

  void enter(std::size_t vertex) {
    number_[vertex] = low_[vertex] = count_++;
    stack_.push_back(vertex);
    on_stack_[vertex] = true;
    path_.push_back({vertex, 0});
  }

  void visit(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::size_t vertex = step.vertex;
      if (step.next_edge < edges_[vertex].size()) {
        const std::size_t next = edges_[vertex][step.next_edge++];
        if (number_[next] == kUnseen) {
          enter(next);
        } else if (on_stack_[next]) {
          low_[vertex] = std::min(low_[vertex], number_[next]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().vertex] = std::min(low_[path_.back().vertex], low_[vertex]);
      if (low_[vertex] == number_[vertex]) close(vertex);
    }
  }

  void close(std::size_t root) {
    const std::size_t component = components_.vertices.size();
    std::vector<std::size_t>& members = components_.vertices.emplace_back();
    std::size_t vertex = kUnseen;
    while (vertex != root) {
      vertex = stack_.back();
      stack_.pop_back();
      on_stack_[vertex] = false;
      components_.of[vertex] = component;
      members.push_back(vertex);
    }
  }

  const std::vector<std::vector<std::size_t>>& edges_;
  std::vector<std::size_t> number_;
  std::vector<std::size_t> low_;
  std::vector<bool> on_stack_;
  std::vector<std::size_t> stack_;
  std::vector<Step> path_;
  std::size_t count_ = 0;
  Components components_;
};

}  // namespace

std::vector<std::size_t> Components::sinks(const std::vector<std::vector<std::size_t>>& edges) const {
  std::vector<std::size_t> found;
  for (std::size_t component = 0; component < vertices.size(); ++component) {
    const bool leaves = std::any_of(vertices[component].begin(), vertices[component].end(), [&](std::size_t vertex) {
      return std::any_of(edges[vertex].begin(), edges[vertex].end(),
                         [&](std::size_t next) { return of[next] != component; });
    });
    if (!leaves) found.push_back(component);
  }
  return found;
}

Components components_of(const std::vector<std::vector<std::size_t>>& edges) { return Finder(edges).run(); }

}  // namespace plumbline::checks
