// owned_nccl LIBRARY: NCCL lives in a library of another name. Under the preload object its calls must still reach it.
// Exit status 0: they did.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* library = argc == 2 ? ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return 2;
  const auto version = reinterpret_cast<int (*)()>(::dlsym(library, "version_through_own_nccl"));
  const auto communicate = reinterpret_cast<bool (*)()>(::dlsym(library, "communicate_through_own_nccl"));
  if (version == nullptr || communicate == nullptr) return 2;
  std::printf("NCCL %d\n", version());
  return version() > 0 && communicate() ? 0 : 1;
}
