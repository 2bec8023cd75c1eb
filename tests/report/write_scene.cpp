// write_scene DIRECTORY: every scene's run in a directory of its own name.
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/run_reader/scenes.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("write_scene DIRECTORY\n", stderr);
    return 2;
  }
  for (const auto& scene : plumbline::tests::scenes()) {
    const std::string directory = std::string(arguments[1]) + "/" + std::string(scene.name);
    std::filesystem::create_directories(directory);
    scene.write(directory);
    std::puts(std::string(scene.name).c_str());
  }
}
