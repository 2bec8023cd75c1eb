// A libc10.so of two functions, under torch's own names.
#include <cstddef>
#include <cstdlib>
#include <new>

namespace c10 {

inline constexpr std::size_t kRefusedSize = std::size_t{1} << 60;

void* alloc_cpu(std::size_t size) {
  if (size == 0) return nullptr;
  if (size >= kRefusedSize) throw std::bad_alloc();
  void* address = nullptr;
  return posix_memalign(&address, 64, size) == 0 ? address : throw std::bad_alloc();
}

void free_cpu(void* address) { std::free(address); }

}  // namespace c10
