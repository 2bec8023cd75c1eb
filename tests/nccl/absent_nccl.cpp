// Calls NCCL where no loaded library has it: the preload object's wrappers are found, and each call must give NCCL's
// own error. Exit status 0: it did.
#include <dlfcn.h>
#include <nccl.h>

#include <cstring>

namespace {

template <class Function>
Function* wrapper(const char* name, Function*) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

}  // namespace

// Looks the function up by its name, with the type that the header gives it.
#define PLUMBLINE_WRAPPER(name) wrapper(#name, static_cast<decltype(name)*>(nullptr))

int main() {
  const auto version_of = PLUMBLINE_WRAPPER(ncclGetVersion);
  const auto make_id = PLUMBLINE_WRAPPER(ncclGetUniqueId);
  const auto make_comm = PLUMBLINE_WRAPPER(ncclCommInitRank);
  const auto start_group = PLUMBLINE_WRAPPER(ncclGroupStart);
  const auto all_reduce = PLUMBLINE_WRAPPER(ncclAllReduce);
  const auto error_text = PLUMBLINE_WRAPPER(ncclGetErrorString);
  if (version_of == nullptr || make_id == nullptr || make_comm == nullptr || start_group == nullptr ||
      all_reduce == nullptr || error_text == nullptr) {
    return 2;
  }
  int version = 0;
  ncclUniqueId id{};
  ncclComm_t comm = nullptr;
  const bool refused = version_of(&version) == ncclSystemError && make_id(&id) == ncclSystemError &&
                       make_comm(&comm, 1, id, 0) == ncclSystemError && start_group() == ncclSystemError &&
                       all_reduce(nullptr, nullptr, 0, ncclInt8, ncclSum, comm, nullptr) == ncclSystemError;
  return refused && std::strlen(error_text(ncclSystemError)) > 0 ? 0 : 1;
}
