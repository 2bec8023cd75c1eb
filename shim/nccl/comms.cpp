#include "shim/nccl/comms.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "recorder/recorder.hpp"
#include "shim/core/current_call.hpp"
#include "shim/nccl/nccl_functions.hpp"
#include "shim/nccl/nccl_thread.hpp"

namespace plumbline::shim::nccl {
namespace {

using recorder::CommEvent;
using recorder::CommRecord;

constinit CommTable comms;
constinit std::atomic<std::uint64_t> cliques{0};

constexpr std::uint64_t kHashSeed = 0xcbf29ce484222325ull;

// FNV-1a: the same on every host.
std::uint64_t hash_of(const void* bytes, std::size_t length, std::uint64_t hash = kHashSeed) noexcept {
  for (std::size_t at = 0; at < length; ++at) {
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[at]) * 0x100000001b3ull;
  }
  return hash;
}

CommName name_for(std::uint64_t unique_id_hash) noexcept {
  CommName name;
  std::snprintf(name.text, sizeof name.text, "nccl-%016llx", static_cast<unsigned long long>(unique_id_hash));
  return name;
}

// Rank or size of a communicator, -1 when NCCL does not say (it is not ready, or it is no communicator).
int ask(Function function, void* handle) noexcept {
  const auto question = reinterpret_cast<int (*)(void*, int*)>(real_function(function, nullptr));
  if (question == nullptr) return -1;
  int answer = -1;
  ++nccl_thread.inside;
  const int code = question(handle, &answer);
  --nccl_thread.inside;
  return code == kSuccess ? answer : -1;
}

// NCCL does not know which global ranks a communicator joins. One as large as the job has them all; for others the one
// entry -1 says that they are not known.
const char* ranks_text(std::int32_t size) noexcept {
  const char* world = std::getenv("WORLD_SIZE");
  return world != nullptr && std::atoi(world) == size ? "" : "-1";
}

Comm* take_in(const CommBirth& birth, void* handle) noexcept {
  const std::int32_t rank = birth.rank >= 0 ? birth.rank : ask(kCommUserRank, handle);
  const std::int32_t size = birth.size >= 0 ? birth.size : ask(kCommCount, handle);
  if (rank < 0 || size <= 0) return nullptr;
  const CommName name = name_for(birth.unique_id_hash);
  const char* description = birth.label != nullptr ? birth.label : "NCCL communicator";
  const std::uint64_t group = recorder::define_group(name.text, description, "nccl", ranks_text(size), rank, size,
                                                     reinterpret_cast<std::uintptr_t>(handle));
  return comms.insert(handle, name, group, birth.process_group, rank, size);
}

CommRecord record_of(const CommBirth& birth) noexcept {
  CommRecord record{};
  record.header.tag = static_cast<std::uint32_t>(birth.event);
  record.parent = reinterpret_cast<std::uintptr_t>(birth.parent);
  record.unique_id_hash = birth.unique_id_hash;
  record.rank = birth.rank;
  record.size = birth.size;
  record.group = birth.process_group;
  return record;
}

void push_with(CommRecord& record, int code) noexcept {
  record.header.time_ns = recorder::now_ns();
  record.header.kind = recorder::Kind::kComm;
  record.header.slots = recorder::slots_of<CommRecord>();
  record.code = code;
  recorder::push(record.header);
}

// Every rank that takes part makes the children of a communicator in the same order, so their counts agree.
CommBirth birth_of_child(CommEvent event, void* parent, int color, const void* config, const void* frame) noexcept {
  CommBirth birth;
  birth.event = event;
  birth.parent = parent;
  birth.label = comm_name(config);
  birth.process_group = enclosing_call(frame).group;
  if (Comm* known = known_comm(parent)) {
    const std::uint32_t ordinal = known->children.fetch_add(1, std::memory_order_relaxed);
    birth.unique_id_hash = hash_of(&known->name, sizeof known->name);
    birth.unique_id_hash = hash_of(&ordinal, sizeof ordinal, birth.unique_id_hash);
    birth.unique_id_hash = hash_of(&color, sizeof color, birth.unique_id_hash);
  }
  return birth;
}

}  // namespace

CommBirth birth_from_ids(const NcclUniqueId* ids, int count, int rank, int size, const void* config,
                         const void* frame) noexcept {
  CommBirth birth;
  if (ids != nullptr && count > 0) birth.unique_id_hash = hash_of(ids, sizeof *ids * static_cast<std::size_t>(count));
  birth.rank = rank;
  birth.size = size;
  birth.label = comm_name(config);
  birth.process_group = enclosing_call(frame).group;
  return birth;
}

CommBirth birth_of_clique(int rank, int size, const void* frame) noexcept {
  // The ranks of a clique are all in this process, which calls once for each, in order.
  if (rank == 0) cliques.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t identity[] = {static_cast<std::uint64_t>(::getpid()), cliques.load(std::memory_order_relaxed)};
  CommBirth birth;
  birth.unique_id_hash = hash_of(identity, sizeof identity);
  birth.rank = rank;
  birth.size = size;
  birth.label = "NCCL communicators of one process";
  birth.process_group = enclosing_call(frame).group;
  return birth;
}

CommBirth birth_from_split(void* parent, int color, const void* config, const void* frame) noexcept {
  return birth_of_child(CommEvent::kSplit, parent, color, config, frame);
}

CommBirth birth_from_shrink(void* parent, const void* config, const void* frame) noexcept {
  return birth_of_child(CommEvent::kShrink, parent, kNoColor, config, frame);
}

void begin_birth(const CommBirth& birth) noexcept {
  CommRecord record = record_of(birth);
  push_with(record, kInProgress);
}

void end_birth(const CommBirth& birth, void* handle, int code) noexcept {
  CommRecord record = record_of(birth);
  const bool made = handle != nullptr && (code == kSuccess || code == kInProgress);
  const Comm* comm = made ? take_in(birth, handle) : nullptr;
  if (comm != nullptr) {
    record.rank = comm->rank;
    record.size = comm->size;
  }
  record.comm = made ? reinterpret_cast<std::uintptr_t>(handle) : 0;
  push_with(record, code);
}

Comm* known_comm(void* handle) noexcept {
  if (handle == nullptr) return nullptr;
  if (Comm* known = comms.find(handle)) [[likely]]
    return known;
  CommBirth birth;
  birth.unique_id_hash = hash_of(&handle, sizeof handle);
  return take_in(birth, handle);
}

CommRecord begin_end(CommEvent event, void* handle) noexcept {
  CommRecord record{};
  record.header.tag = static_cast<std::uint32_t>(event);
  record.comm = reinterpret_cast<std::uintptr_t>(handle);
  record.rank = record.size = -1;
  if (const Comm* comm = comms.find(handle)) {
    record.rank = comm->rank;
    record.size = comm->size;
    record.group = comm->process_group;
  }
  if (event == CommEvent::kDestroy || event == CommEvent::kAbort) comms.erase(handle);
  return record;
}

void finish_end(CommRecord& record, int code) noexcept { push_with(record, code); }

}  // namespace plumbline::shim::nccl
