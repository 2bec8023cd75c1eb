#include "checks/components.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace plumbline::checks {
namespace {

using Edges = std::vector<std::vector<std::size_t>>;

std::vector<std::vector<std::size_t>> sorted_sinks(const Edges& edges) {
  const Components components = components_of(edges);
  std::vector<std::vector<std::size_t>> sinks;
  for (const std::size_t sink : components.sinks(edges)) {
    sinks.push_back(components.vertices[sink]);
    std::sort(sinks.back().begin(), sinks.back().end());
  }
  std::sort(sinks.begin(), sinks.end());
  return sinks;
}

TEST(ComponentsTest, AChainEndsInItsLastVertex) { EXPECT_EQ(sorted_sinks({{1}, {2}, {}}), (Edges{{2}})); }

TEST(ComponentsTest, ACircleIsOneComponent) {
  const Edges edges = {{1}, {2}, {0}, {0}};
  const Components components = components_of(edges);
  EXPECT_EQ(components.vertices.size(), 2U);
  EXPECT_EQ(components.of[0], components.of[2]);
  EXPECT_NE(components.of[0], components.of[3]);
  EXPECT_EQ(sorted_sinks(edges), (Edges{{0, 1, 2}}));
}

TEST(ComponentsTest, ACircleWithAWayOutIsNoSink) { EXPECT_EQ(sorted_sinks({{1}, {0, 2}, {}}), (Edges{{2}})); }

TEST(ComponentsTest, SeveralSinks) { EXPECT_EQ(sorted_sinks({{1, 2}, {}, {}, {}}), (Edges{{1}, {2}, {3}})); }

TEST(ComponentsTest, NothingAtAll) { EXPECT_TRUE(components_of({}).vertices.empty()); }

// As deep as a pipeline with a stage a rank: no recursion may depend on it.
TEST(ComponentsTest, AVeryLongChain) {
  constexpr std::size_t kLength = 1'000'000;
  Edges edges(kLength);
  for (std::size_t vertex = 0; vertex + 1 < kLength; ++vertex) edges[vertex].push_back(vertex + 1);
  EXPECT_EQ(sorted_sinks(edges), (Edges{{kLength - 1}}));
}

}  // namespace
}  // namespace plumbline::checks
