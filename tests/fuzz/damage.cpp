#include "tests/fuzz/damage.hpp"

#include <algorithm>
#include <cstddef>

namespace plumbline::fuzz {

std::string damaged(std::string contents, std::mt19937& random) {
  const std::size_t changes = 1 + random() % 3;
  for (std::size_t i = 0; i < changes && !contents.empty(); ++i) {
    const std::size_t at = random() % contents.size();
    const std::size_t length = std::min<std::size_t>(1 + random() % 12, contents.size() - at);
    switch (random() % 5) {
      case 0:
        contents[at] = static_cast<char>(contents[at] ^ (1 << random() % 8));
        break;
      case 1:
        contents[at] = static_cast<char>(random());
        break;
      case 2:
        contents.erase(at, length);
        break;
      case 3:
        contents.insert(at, contents.substr(random() % contents.size(), length));
        break;
      default:
        contents.replace(at, length, length, '9');
    }
  }
  return contents;
}

}  // namespace plumbline::fuzz
