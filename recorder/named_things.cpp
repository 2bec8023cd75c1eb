// Texts, groups and facts: records with text behind them.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "recorder/process_names.hpp"
#include "recorder/recorder.hpp"
#include "recorder/seen_set.hpp"
#include "recorder/text_hash.hpp"

namespace plumbline::recorder {
namespace {

constinit SeenSet<1 << 15> g_seen;
constinit std::atomic<std::int32_t> g_group_rank{-1};

// A record and the text that grows behind it.
template <class Record>
class TextMessage {
 public:
  explicit TextMessage(const Record& record) noexcept : message_{} { message_.record = record; }

  std::size_t length() const noexcept { return length_; }

  // Cut where the whole text would pass `limit`.
  void append(std::string_view part, std::size_t limit = kMaxFact) noexcept {
    const std::size_t take = std::min(part.size(), limit - std::min(limit, length_));
    std::memcpy(message_.text + length_, part.data(), take);
    length_ += take;
  }

  bool push() noexcept {
    message_.record.header.slots = slots_of<Record>(length_);
    message_.record.header.tag = static_cast<std::uint32_t>(length_);
    return recorder::push(message_.record.header);
  }

 private:
  struct {
    Record record;
    char text[kMaxFact];
  } message_;
  std::size_t length_ = 0;
};

// Records what has an id once. Only what has reached a ring counts as seen: a dropped text is tried again, and an id
// that another thread finds in the set stands for a text that a ring already holds.
template <class Record>
void push_once(std::uint64_t id, TextMessage<Record>& message) noexcept {
  if (message.push()) g_seen.insert(id);
}

// The global rank of a group's nth member; an empty list means that they are numbered alike.
std::int32_t nth_rank(std::string_view ranks, std::int32_t n) noexcept {
  if (ranks.empty()) return n;
  for (; n > 0; --n) {
    const std::size_t comma = ranks.find(',');
    if (comma == std::string_view::npos) return -1;
    ranks.remove_prefix(comma + 1);
  }
  std::int32_t rank = -1;
  std::from_chars(ranks.data(), ranks.data() + ranks.size(), rank);
  return rank;
}

}  // namespace

std::int32_t rank_from_groups() noexcept { return g_group_rank.load(std::memory_order_relaxed); }

void forget_named_things() noexcept {
  g_seen.clear();
  g_group_rank.store(-1, std::memory_order_relaxed);
}

std::uint64_t text_id(std::string_view text) noexcept {
  const std::uint64_t id = text_hash(text);
  if (g_seen.contains(id) || !active()) return id;
  TextMessage<TextRecord> message({{now_ns(), Kind::kText, 0, 0, 0}, id, 0});
  message.append(text, kMaxText);
  push_once(id, message);
  return id;
}

void fact(std::string_view key, std::string_view value) noexcept {
  if (!active()) return;
  TextMessage<FactRecord> message({{now_ns(), Kind::kFact, 0, 0, 0}, {}});
  message.append(key, kMaxText);
  message.append("=");
  message.append(value);
  message.push();
}

std::uint64_t define_group(std::string_view name, std::string_view description, std::string_view backend,
                           std::string_view ranks, std::int32_t rank, std::int32_t size,
                           std::uint64_t pointer) noexcept {
  const std::uint64_t id = group_hash(name, ranks);
  if (g_seen.contains(id) || !active()) return id;
  std::int32_t unknown = -1;
  g_group_rank.compare_exchange_strong(unknown, nth_rank(ranks, rank), std::memory_order_relaxed);

  TextMessage<GroupRecord> message({{now_ns(), Kind::kGroup, 0, 0, 0}, id, pointer, rank, size});
  for (const std::string_view part : {name, description, backend}) {
    message.append(part, message.length() + kMaxText);
    message.append({"\0", 1});
  }
  const std::size_t room = kMaxFact - message.length();
  message.append(ranks.size() <= room ? ranks : ranks.substr(0, ranks.rfind(',', room)));
  push_once(id, message);
  return id;
}

}  // namespace plumbline::recorder
