#include "shim/torch/c10d_group.hpp"

#include <dlfcn.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>
#include <vector>

#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter {
namespace {

// The global ranks of a group are known to the concrete backends only, whose headers need those of gloo and NCCL. The
// function that tells them has the same shape in both.
struct RankSource {
  const char* type;     // as typeid names it
  const char* library;  // that exports the function
  const char* function;
};
constexpr RankSource kRankSources[] = {
    {"N4c10d16ProcessGroupGlooE", "libtorch_cpu.so", "_ZNK4c10d16ProcessGroupGloo10groupRanksEv"},
    {"N4c10d16ProcessGroupNCCLE", "libtorch_cuda.so", "_ZNK4c10d16ProcessGroupNCCL10groupRanksEv"},
};
using GroupRanks = const std::vector<std::uint64_t>& (*)(const c10d::Backend*);

GroupRanks find_function(const RankSource& source) noexcept {
  void* const library = dlopen(source.library, RTLD_NOLOAD | RTLD_NOW);
  if (library == nullptr) return nullptr;
  const auto function = reinterpret_cast<GroupRanks>(dlsym(library, source.function));
  dlclose(library);
  return function;
}

// "0,2,4", or empty for 0 … size-1 and when nobody can tell.
std::string global_ranks(const c10d::Backend& backend) {
  std::string text;
  for (const RankSource& source : kRankSources) {
    if (std::strcmp(typeid(backend).name(), source.type) != 0) continue;
    const GroupRanks ranks_of = find_function(source);
    if (ranks_of == nullptr) continue;
    bool identity = true;
    std::uint64_t index = 0;
    for (const std::uint64_t rank : ranks_of(&backend)) {
      identity = identity && rank == index++;
      text += (text.empty() ? "" : ",") + std::to_string(rank);
    }
    if (identity) text.clear();
  }
  return text;
}

// Known groups: a hash table of lists that only ever grow. An address may be used again for another group, so the name
// is compared too.
struct Known {
  const void* backend;
  std::string name;
  std::uint64_t id;
  const Known* next;
};
constexpr std::size_t kBuckets = 64;
std::atomic<const Known*> known[kBuckets];

std::atomic<const Known*>& bucket_of(const void* backend) noexcept {
  return known[reinterpret_cast<std::uintptr_t>(backend) / 64 % kBuckets];
}

const Known* find(const Known* list, const void* backend, const std::string& name) noexcept {
  while (list != nullptr && (list->backend != backend || list->name != name)) list = list->next;
  return list;
}

std::uint64_t define(const c10d::Backend& backend, const std::string& name) {
  const std::uint64_t id = host().define_group(
      name.c_str(), backend.getGroupDesc().c_str(), backend.getBackendName().c_str(), global_ranks(backend).c_str(),
      backend.getRank(), backend.getSize(), reinterpret_cast<std::uintptr_t>(&backend));
  auto& bucket = bucket_of(&backend);
  auto* entry = new Known{&backend, name, id, bucket.load(std::memory_order_acquire)};
  while (!bucket.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {
  }
  return id;
}

}  // namespace

std::uint64_t group_of(void* opaque) noexcept {
  try {
    const auto& backend = *static_cast<const c10d::Backend*>(opaque);
    const std::string& name = backend.getGroupUid();
    if (name.empty()) return 0;
    if (const Known* entry = find(bucket_of(&backend).load(std::memory_order_acquire), &backend, name))
      return entry->id;
    return define(backend, name);
  } catch (const std::exception&) {
    return 0;
  }
}

int rank_in_group(void* opaque) noexcept { return static_cast<const c10d::Backend*>(opaque)->getRank(); }

int group_size(void* opaque) noexcept { return static_cast<const c10d::Backend*>(opaque)->getSize(); }

}  // namespace plumbline::shim::adapter
