#include "shim/torch/testing/fake_host.hpp"

#include "shim/torch/host.hpp"

namespace plumbline::shim::adapter::testing {
namespace {

FakeHost* the_fake = nullptr;

std::string text(const char* given) { return given != nullptr ? given : ""; }

template <class T>
std::vector<T> list(const T* first, std::size_t count) {
  return {first, first + count};
}

bool push(const recorder::RecordHeader* record) {
  if (record->kind != recorder::Kind::kSample) return true;
  const auto& sample = *reinterpret_cast<const recorder::SampleRecord*>(record);
  the_fake->samples.emplace_back(static_cast<recorder::Counter>(record->tag), sample.value);
  return true;
}

bool capture(const recorder::Capture* given) {
  KeptCapture kept;
  kept.probe = text(given->probe);
  kept.name = text(given->name);
  kept.step = given->step;
  kept.occurrence = given->occurrence;
  kept.key = given->key;
  kept.dtype = given->dtype;
  kept.amount = given->amount;
  kept.hash_kind = given->hash_kind;
  kept.hash = given->hash;
  kept.shape = list(given->shape, given->dimensions);
  kept.global_shape = list(given->global_shape, given->global_dimensions);
  kept.offset = list(given->offset, given->global_dimensions);
  kept.replicas = list(given->replicas, given->replica_count);
  kept.device = text(given->device);
  kept.indices = list(given->indices, given->index_count);
  kept.data = list(given->data, given->data_bytes);
  kept.detail = text(given->detail);
  kept.blocks = list(given->blocks, given->block_count);
  if (given->statistics != nullptr) kept.statistics.push_back(*given->statistics);
  the_fake->captures.push_back(std::move(kept));
  return true;
}

const PlumblineHost& table() {
  static const PlumblineHost made = [] {
    PlumblineHost host{};
    host.now_ns = [] { return std::uint64_t{1}; };
    host.active = [] { return the_fake->active; };
    host.push = push;
    host.fact = [](const char* key, const char* value) { the_fake->facts[key] = value; };
    host.level = [] { return the_fake->level; };
    host.capture = capture;
    host.capture_wish = [](const char*) { return the_fake->wish; };
    host.capture_hash = [](const void* data, std::size_t bytes) { return hash_of(data, bytes); };
    return host;
  }();
  return made;
}

}  // namespace

FakeHost::FakeHost() {
  the_fake = this;
  set_host(&table());
}

FakeHost::~FakeHost() {
  set_host(nullptr);
  the_fake = nullptr;
}

std::uint64_t hash_of(const void* data, std::size_t bytes) noexcept {
  std::uint64_t hash = 14695981039346656037ULL;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const std::uint8_t*>(data)[i]) * 1099511628211ULL;
  return hash;
}

}  // namespace plumbline::shim::adapter::testing
