// Small runs whose report is known word for word: each writes its traces into a directory.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace plumbline::tests {

struct Scene {
  std::string_view name;
  void (*write)(const std::string& directory);
};

std::span<const Scene> scenes();

}  // namespace plumbline::tests
