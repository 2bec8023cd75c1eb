// A library that allocates through libc10.so, as libtorch_cpu.so does.
#include <cstddef>

namespace c10 {
void* alloc_cpu(std::size_t size);
void free_cpu(void* address);
}  // namespace c10

extern "C" void* user_alloc(std::size_t size) { return c10::alloc_cpu(size); }
extern "C" void user_free(void* address) { c10::free_cpu(address); }
