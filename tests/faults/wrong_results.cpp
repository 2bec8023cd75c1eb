// Preloaded in front of the shim: makes gloo's collectives leave what the job tells, as a broken network or backend
// would, after the backend has run and before anybody who waits is woken.
//
//   wrong_result(to, bytes, count)   the next collective of this process that ends leaves these bytes there
//   wrong_copy(to, bytes, count)     likewise, of one whose result is copied there (gloo's reduce-scatter): float32
//   wrong_message(to, bytes, count)  likewise, of the next send or receive that is waited for
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

struct Edit {
  void* to;
  const void* bytes;
  std::size_t count;
};

std::mutex lock;
std::vector<Edit> results;
std::vector<Edit> copies;
std::vector<Edit> messages;

constexpr const char* kFinish = "_ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv";
constexpr const char* kThrow = "_ZN4c10d4Work14finishAndThrowENSt15__exception_ptr13exception_ptrE";
constexpr const char* kCopy = "_ZN2at4_ops5copy_4callERNS_6TensorERKS2_b";
constexpr const char* kData = "_ZNK2at10TensorBase8data_ptrIfEEPT_v";  // float* at::TensorBase::data_ptr<float>() const

// The shim's, which is behind this library in the global scope.
template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// PyTorch's own.
template <class Function>
Function in_torch(const char* name) {
  return reinterpret_cast<Function>(dlsym(dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_NOW), name));
}

float* data_of(const void* tensor) {
  static const auto function = in_torch<float* (*)(const void*)>(kData);
  return function(tensor);
}

void make(std::vector<Edit>& edits) {
  const std::lock_guard hold(lock);
  for (const Edit& edit : edits) std::memcpy(edit.to, edit.bytes, edit.count);
  edits.clear();
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void wrong_result(void* to, const void* bytes, std::size_t count) {
  const std::lock_guard hold(lock);
  results.push_back({to, bytes, count});
}

EXPORTED void wrong_copy(void* to, const void* bytes, std::size_t count) {
  const std::lock_guard hold(lock);
  copies.push_back({to, bytes, count});
}

EXPORTED void wrong_message(void* to, const void* bytes, std::size_t count) {
  const std::lock_guard hold(lock);
  messages.push_back({to, bytes, count});
}

EXPORTED void _ZN4c10d16ProcessGroupGloo9AsyncWork14finishWorkGlooEv(void* work) {
  make(results);
  static const auto real = next<void (*)(void*)>(kFinish);
  real(work);
}

// What SendWork::wait and RecvWork::wait end with, which the shim calls before it looks at what came.
EXPORTED void _ZN4c10d4Work14finishAndThrowENSt15__exception_ptr13exception_ptrE(void* work, void* exception) {
  make(messages);
  static const auto real = in_torch<void (*)(void*, void*)>(kThrow);
  real(work, exception);
}

EXPORTED void* _ZN2at4_ops5copy_4callERNS_6TensorERKS2_b(void* to, const void* from, bool non_blocking) {
  static const auto real = next<void* (*)(void*, const void*, bool)>(kCopy);
  Edit due{};
  {
    const std::lock_guard hold(lock);
    if (!copies.empty() && data_of(to) == copies.front().to) {
      due = copies.front();
      copies.clear();
    }
  }
  if (due.to != nullptr) std::memcpy(data_of(from), due.bytes, due.count);
  return real(to, from, non_blocking);
}
