#include "reader/definitions.hpp"

#include <algorithm>
#include <numeric>

namespace plumbline::reader {
namespace {

std::uint64_t thread_key(std::uint32_t ring, std::uint64_t generation) {
  return generation << 24 ^ ring;  // a process has thousands of rings at most
}

bool is_identity(const Group& group) {
  for (std::size_t i = 0; i < group.ranks.size(); ++i)
    if (group.ranks[i] != static_cast<int>(i)) return false;
  return true;
}

}  // namespace

std::string_view Definitions::text(std::uint64_t id) const {
  const auto it = texts.find(id);
  return it == texts.end() ? std::string_view("?") : std::string_view(it->second);
}

std::string_view Definitions::fact(std::string_view key) const {
  const auto it = fact_index_.find(std::string(key));
  return it == fact_index_.end() ? std::string_view() : std::string_view(facts[it->second].second);
}

const Group* Definitions::group(std::uint64_t id) const {
  const auto it = group_index_.find(id);
  return it == group_index_.end() ? nullptr : &groups[it->second];
}

// PyTorch describes its default group as "default_pg". Without that word: the largest group that holds 0 … size-1, as
// long as it is not smaller than the world that the environment speaks of.
const Group* Definitions::world_group() const {
  const Group* best = nullptr;
  for (const Group& group : groups) {
    if (group.size <= 0 || !is_identity(group)) continue;
    if (group.description == "default_pg") return &group;
    if (group.size < process.world_size) continue;
    if (best == nullptr || group.size > best->size) best = &group;
  }
  return best;
}

const Thread* Definitions::thread(std::uint32_t ring, std::uint64_t generation) const {
  if (generation != 0) {
    const auto it = thread_index_.find(thread_key(ring, generation));
    return it == thread_index_.end() ? nullptr : &threads[it->second];
  }
  const Thread* last = nullptr;
  for (const Thread& thread : threads)
    if (thread.ring == ring && (last == nullptr || thread.generation > last->generation)) last = &thread;
  return last;
}

bool Definitions::afford(std::size_t bytes) {
  constexpr std::size_t kOverhead = 64;
  const std::size_t cost = bytes + kOverhead;
  if (cost > kMaxBytes - bytes_) {
    ++refused_;
    return false;
  }
  bytes_ += cost;
  return true;
}

void Definitions::add_fact(std::string_view key, std::string_view value) {
  if (!afford(key.size() + value.size())) return;
  const auto [it, fresh] = fact_index_.try_emplace(std::string(key), facts.size());
  if (fresh)
    facts.emplace_back(key, value);
  else
    facts[it->second].second = value;
}

void Definitions::add_text(std::uint64_t id, std::string_view text) {
  if (!texts.contains(id) && afford(text.size())) texts.emplace(id, text);
}

void Definitions::add_group(Group group) {
  const std::size_t members =
      group.ranks.empty() ? static_cast<std::size_t>(std::max(group.size, 0)) : group.ranks.size();
  if (!afford(members * sizeof(int) + group.name.size() + group.description.size() + group.backend.size())) return;
  if (group.ranks.empty()) {
    group.ranks.resize(members);
    std::iota(group.ranks.begin(), group.ranks.end(), 0);
  }
  const auto [it, fresh] = group_index_.try_emplace(group.id, groups.size());
  if (fresh)
    groups.push_back(std::move(group));
  else
    groups[it->second] = std::move(group);
}

void Definitions::add_thread(Thread thread) {
  if (!afford(thread.name.size())) return;
  const auto [it, fresh] = thread_index_.try_emplace(thread_key(thread.ring, thread.generation), threads.size());
  if (fresh)
    threads.push_back(std::move(thread));
  else
    threads[it->second] = std::move(thread);
}

void Definitions::add_stack(Stack stack) {
  std::size_t bytes = stack.thread_name.size();
  for (const auto* frames : {&stack.python, &stack.native})
    for (const StackFrame& frame : *frames) bytes += sizeof frame + frame.function.size() + frame.file.size();
  if (afford(bytes)) stacks.push_back(std::move(stack));
}

void Definitions::add_module(Module module) {
  if (afford(module.path.size() + module.build_id.size())) modules.push_back(std::move(module));
}

}  // namespace plumbline::reader
