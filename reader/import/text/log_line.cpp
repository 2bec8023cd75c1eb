#include "reader/import/text/log_line.hpp"

#include <charconv>
#include <chrono>

namespace plumbline::reader::imports {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// "16:51:09.438000" at the front of `text`, since midnight.
std::optional<std::uint64_t> take_time_of_day(std::string_view& text) {
  const auto hours = take_number(text);
  if (!hours || !take_word(text, ":")) return std::nullopt;
  const auto minutes = take_number(text);
  if (!minutes || !take_word(text, ":")) return std::nullopt;
  const auto seconds = take_number(text);
  if (!seconds || *hours > 23 || *minutes > 59 || *seconds > 60) return std::nullopt;
  std::uint64_t ns = static_cast<std::uint64_t>(*hours * 3600 + *minutes * 60 + *seconds) * kSecond;
  if (take_word(text, "."))
    for (std::uint64_t unit = kSecond / 10; !text.empty() && text[0] >= '0' && text[0] <= '9'; unit /= 10) {
      ns += static_cast<std::uint64_t>(text[0] - '0') * unit;
      text.remove_prefix(1);
    }
  return ns;
}

std::uint64_t days_since_epoch(int year, unsigned month, unsigned day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
  if (!date.ok()) return 0;
  return static_cast<std::uint64_t>(sys_days(date).time_since_epoch().count());
}

// "E1129 16:51:09.438000", with the month's leading zero often left out.
std::uint64_t glog_time(std::string_view text, int year) {
  if (text.empty() || std::string_view("IWEFC").find(text[0]) == std::string_view::npos) return 0;
  text.remove_prefix(1);
  const auto date = take_number(text);
  if (!date || *date < 101 || *date > 1231 || !take_word(text, " ")) return 0;
  const auto time = take_time_of_day(text);
  const std::uint64_t days =
      days_since_epoch(year, static_cast<unsigned>(*date / 100), static_cast<unsigned>(*date % 100));
  return time && days != 0 ? days * 86'400 * kSecond + *time : 0;
}

}  // namespace

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  return take_number(text);
}

std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const std::size_t from = text.find(before);
  if (from == std::string_view::npos) return {};
  text.remove_prefix(from + before.size());
  const std::size_t to = text.find(after);
  return to == std::string_view::npos ? std::string_view{} : text.substr(0, to);
}

std::uint64_t date_time_ns(std::string_view text) {
  const auto year = take_number(text);
  if (!year || *year < 1970 || *year > 2200 || !take_word(text, "-")) return 0;
  const auto month = take_number(text);
  if (!month || !take_word(text, "-")) return 0;
  const auto day = take_number(text);
  if (!day || (!take_word(text, "_") && !take_word(text, " ") && !take_word(text, "T"))) return 0;
  const auto time = take_time_of_day(text);
  const std::uint64_t days =
      days_since_epoch(static_cast<int>(*year), static_cast<unsigned>(*month), static_cast<unsigned>(*day));
  return time && days != 0 ? days * 86'400 * kSecond + *time : 0;
}

LogLine::LogLine(std::string_view whole, int year) : text(whole) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::string_view rest = text;
  if (take_word(rest, "[rank") || take_word(rest, "[default")) {
    const bool global = text.starts_with("[rank");
    const auto number = take_number(rest);
    if (number && *number >= 0 && take_word(rest, "]:")) {
      (global ? rank : local_rank) = static_cast<int>(*number);
      take_word(rest, " ");
      text = rest;
    }
  } else if (take_word(rest, "[")) {  // mpirun: "[1,2]<stdout>:", job and rank
    const auto job = take_number(rest);
    const auto number = job && take_word(rest, ",") ? take_number(rest) : std::nullopt;
    if (number && *number >= 0 && (take_word(rest, "]<stdout>:") || take_word(rest, "]<stderr>:"))) {
      rank = static_cast<int>(*number);
      text = rest;
    }
  }
  rest = text;
  take_word(rest, "[");
  time_ns = glog_time(rest, year);
}

}  // namespace plumbline::reader::imports
