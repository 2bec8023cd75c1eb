// two_runtimes LIBRARY12 LIBRARY13: two libraries of one process use two CUDA runtimes. Under the preload object, which
// stands before both, each must still reach its own. Exit status 0: it did.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

namespace {

struct User {
  std::size_t (*allocate)(void**, std::size_t);
  bool (*release)(void*);
};

User load(const char* path) {
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return {};
  }
  return {reinterpret_cast<std::size_t (*)(void**, std::size_t)>(::dlsym(library, "allocate_through_own_runtime")),
          reinterpret_cast<bool (*)(void*)>(::dlsym(library, "free_through_own_runtime"))};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  int wrong = 0;
  const User users[] = {load(argv[1]), load(argv[2])};
  for (int round = 0; round < 3; ++round) {
    for (const User& user : users) {
      if (user.allocate == nullptr || user.release == nullptr) return 2;
      constexpr std::size_t kSize = 12345;
      void* block = nullptr;
      // A runtime that did not allocate it has as much left as before, and refuses to take it back.
      if (user.allocate(&block, kSize) != kSize) ++wrong;
      if (!user.release(block)) ++wrong;
    }
  }
  std::printf("%d wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
