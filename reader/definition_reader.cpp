#include "reader/definition_reader.hpp"

#include <charconv>

#include "recorder/trace_generated.h"

namespace plumbline::reader {
namespace {

std::string_view view_of(const flatbuffers::String* text) {
  return text != nullptr ? std::string_view(text->c_str(), text->size()) : std::string_view();
}
std::string text_of(const flatbuffers::String* text) { return std::string(view_of(text)); }

// More ranks than any job has: damage that the checksum did not show. A loop over them would never end.
constexpr std::int32_t kMostRanks = 1 << 20;
std::int32_t rank_count(std::int32_t count) { return count <= kMostRanks ? count : -1; }

ProcessInfo process_of(const trace::Process& p) {
  ProcessInfo info;
  info.format = p.format();
  info.plumbline_version = text_of(p.plumbline_version());
  info.host = text_of(p.host());
  info.boot_id = text_of(p.boot_id());
  info.pid = p.pid();
  info.start_monotonic_ns = p.start_monotonic_ns();
  info.start_realtime_ns = p.start_realtime_ns();
  info.rank = p.rank();
  info.local_rank = p.local_rank();
  info.world_size = rank_count(p.world_size());
  info.attempt = p.attempt();
  info.ring_name = text_of(p.ring_name());
  info.level = text_of(p.level());
  return info;
}

Group group_of(const trace::Group& g) {
  Group group;
  group.id = g.id();
  group.name = text_of(g.name());
  group.description = text_of(g.description());
  group.backend = text_of(g.backend());
  group.pointer = g.pointer();
  group.rank = g.rank();
  group.size = g.size();
  group.time_ns = g.time_ns();
  if (g.ranks() != nullptr) group.ranks.assign(g.ranks()->begin(), g.ranks()->end());
  return group;
}

void absorb(const trace::Process& process, Definitions& to) {
  to.process = process_of(process);
  to.has_process = true;
}

void absorb(const trace::Facts& facts, Definitions& to) {
  if (facts.facts() == nullptr) return;
  for (const trace::Fact* fact : *facts.facts()) to.add_fact(view_of(fact->key()), view_of(fact->value()));
}

void absorb(const trace::Texts& texts, Definitions& to) {
  if (texts.texts() == nullptr) return;
  for (const trace::Text* text : *texts.texts()) to.add_text(text->id(), view_of(text->text()));
}

void absorb(const trace::Groups& groups, Definitions& to) {
  if (groups.groups() == nullptr) return;
  for (const trace::Group* group : *groups.groups()) to.add_group(group_of(*group));
}

void absorb(const trace::Threads& threads, Definitions& to) {
  if (threads.threads() == nullptr) return;
  for (const trace::Thread* t : *threads.threads())
    to.add_thread({t->ring(), t->generation(), t->tid(), text_of(t->name())});
}

void absorb(const trace::Hooks& hooks, Definitions& to) {
  if (hooks.hooks() == nullptr) return;
  to.hooks.clear();
  for (const trace::HookCount* hook : *hooks.hooks())
    to.hooks.push_back({text_of(hook->name()), hook->active(), hook->fired(), text_of(hook->detail()), hook->number()});
}

void absorb(const trace::Stacks& stacks, Definitions& to) {
  if (stacks.stacks() == nullptr) return;
  for (const trace::Stack* stack : *stacks.stacks()) to.add_stack(stack_of(*stack, to));
}

void absorb(const trace::Modules& modules, Definitions& to) {
  if (modules.modules() == nullptr) return;
  for (const trace::Module* module : *modules.modules()) to.add_module(module_of(*module));
}

void absorb(const trace::Exit& exit, Definitions& to) {
  to.exit = ExitInfo{exit.time_ns(), exit.status(), exit.signal(), text_of(exit.exception_class()),
                     text_of(exit.exception_message())};
}

}  // namespace

std::vector<int> parse_ranks(std::string_view text) {
  std::vector<int> ranks;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int rank = 0;
    const auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc()) break;
    ranks.push_back(rank);
    at = next < end ? next + 1 : next;
  }
  return ranks;
}

bool absorb_definition(const trace::Message& message, Definitions& definitions) {
  switch (message.body_type()) {
    case trace::Body::Process:
      absorb(*message.body_as_Process(), definitions);
      return true;
    case trace::Body::Facts:
      absorb(*message.body_as_Facts(), definitions);
      return true;
    case trace::Body::Texts:
      absorb(*message.body_as_Texts(), definitions);
      return true;
    case trace::Body::Groups:
      absorb(*message.body_as_Groups(), definitions);
      return true;
    case trace::Body::Threads:
      absorb(*message.body_as_Threads(), definitions);
      return true;
    case trace::Body::Hooks:
      absorb(*message.body_as_Hooks(), definitions);
      return true;
    case trace::Body::Stacks:
      absorb(*message.body_as_Stacks(), definitions);
      return true;
    case trace::Body::Modules:
      absorb(*message.body_as_Modules(), definitions);
      return true;
    case trace::Body::Exit:
      absorb(*message.body_as_Exit(), definitions);
      return true;
    default:
      return false;
  }
}

}  // namespace plumbline::reader
