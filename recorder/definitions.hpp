// Builds the messages of a definition frame: who recorded, facts, texts, groups, threads, stacks, hooks, and the
// process's end.
// These frames are never evicted and precede the first event frame that refers to them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/event.hpp"
#include "recorder/identity.hpp"
#include "recorder/messages.hpp"
#include "recorder/ring_file.hpp"
#include "recorder/settings.hpp"
#include "recorder/stacks.hpp"

namespace plumbline::recorder {

inline constexpr std::uint32_t kTraceFormat = 1;

struct ProcessStart {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t realtime_ns = 0;
};

struct HookCountRow {
  std::string name;
  bool active = false;
  std::uint64_t fired = 0;
  std::string detail;
  std::uint32_t number = ~0u;  // in HookCounters; the largest number: none
};

struct ExitDetails {
  std::int32_t status = -1;
  std::int32_t signal = 0;
  std::string exception_class{};
  std::string exception_message{};
};

class Definitions {
 public:
  // A kText, kGroup or kFact record.
  void add(const RecordHeader& record);
  void add_fact(std::string_view key, std::string_view value);
  void add_thread(std::uint32_t ring, std::uint64_t generation, std::uint32_t tid, std::string_view name);
  // Returns the text's id. A text may be defined any number of times.
  std::uint64_t add_text(std::string_view text);
  void add_stack(StackDetails stack) { stacks_.push_back(std::move(stack)); }
  void add_module(ModuleDetails module) { modules_.push_back(std::move(module)); }

  // These are written in the order of the calls, before what add() collects.
  void add_process(const Identity& identity, const ProcessStart& start, const std::string& ring_name, Level level);
  void add_hooks(std::uint64_t time_ns, const std::vector<HookCountRow>& hooks);
  void add_end(std::uint64_t time_ns, const ExitDetails& details);

  bool empty() const noexcept {
    return messages_.empty() && facts_.empty() && texts_.empty() && groups_.empty() && threads_.empty() &&
           stacks_.empty() && modules_.empty();
  }

  // Appends all messages to `out` and starts afresh.
  void append_to(MessageBuffer& out);

 private:
  struct Fact {
    std::string key, value;
  };
  struct Text {
    std::uint64_t id;
    std::string text;
  };
  struct Group {
    GroupRecord record;
    std::string name, description, backend;
    std::vector<std::int32_t> ranks;
  };
  struct Thread {
    std::uint32_t ring;
    std::uint64_t generation;
    std::uint32_t tid;
    std::string name;
  };

  void add_group(const GroupRecord& record);
  void write_facts();
  void write_texts();
  void write_groups();
  void write_threads();
  void write_stacks();
  void write_modules();

  MessageBuilder builder_;
  MessageBuffer messages_;
  std::vector<Fact> facts_;
  std::vector<Text> texts_;
  std::vector<Group> groups_;
  std::vector<Thread> threads_;
  std::vector<StackDetails> stacks_;
  std::vector<ModuleDetails> modules_;
};

}  // namespace plumbline::recorder
