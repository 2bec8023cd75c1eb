#include "reader/import/kineto_reader.hpp"

#include <charconv>

#include "reader/import/flight_names.hpp"

namespace plumbline::reader::imports {
namespace {

std::int64_t whole_number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// A pid or tid is a number, or a text such as "stream 7".
std::int64_t id_of(JsonReader& json) {
  if (json.type() == JsonType::kNumber) return whole_number(json.number());
  json.skip();
  return 0;
}

enum class Interest : std::uint8_t {
  kNone,
  kByName,  // operators: only those that are ranges or collectives by their name
  kAnnotation,
  kKernel,
  kMemory,
};

// Categories of today's traces, and those of 2021's.
Interest interest_of(std::string_view category) {
  if (category == "cpu_op" || category == "Operator") return Interest::kByName;
  if (category == "user_annotation") return Interest::kAnnotation;
  if (category == "cpu_instant_event") return Interest::kMemory;
  if (category == "kernel" || category == "Kernel") return Interest::kKernel;
  return Interest::kNone;
}

bool is_range_name(std::string_view name) {
  for (const std::string_view front :
       {"ProfilerStep#", "Optimizer.", "DistributedDataParallel.", "enumerate(DataLoader)", "nccl:", "gloo:"})
    if (name.starts_with(front)) return true;
  return false;
}

bool is_nccl_kernel(std::string_view name) {
  return name.starts_with("ncclDevKernel") || name.starts_with("ncclKernel") || name.starts_with("rccl");
}

// Does the event go on to be read, now that its name and category are known?
bool wanted(Interest interest, KinetoEvent& event) {
  switch (interest) {
    case Interest::kAnnotation:
      event.kind = KinetoEvent::Kind::kAnnotation;
      return true;
    case Interest::kMemory:
      event.kind = KinetoEvent::Kind::kMemory;
      return event.name == "[memory]";
    case Interest::kKernel:
      event.kind = KinetoEvent::Kind::kKernel;
      return is_nccl_kernel(event.name);
    case Interest::kByName:
      event.kind = event.name == "record_param_comms" ? KinetoEvent::Kind::kCollective : KinetoEvent::Kind::kAnnotation;
      return event.kind == KinetoEvent::Kind::kCollective || is_range_name(event.name);
    case Interest::kNone:
      break;
  }
  return false;
}

}  // namespace

std::uint64_t nanoseconds_of(std::string_view text) {
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc{} || whole > (~std::uint64_t{0} / 1000) - 1) return 0;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  std::uint64_t fraction = 0;
  if (rest.starts_with('.'))
    for (std::size_t i = 1, unit = 100; i < rest.size() && unit > 0 && rest[i] >= '0' && rest[i] <= '9';
         ++i, unit /= 10)
      fraction += static_cast<std::uint64_t>(rest[i] - '0') * unit;
  if (rest.find_first_of("eE") != std::string_view::npos) {  // never seen of whole traces, but JSON
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value > 0 && value < 1e16 ? static_cast<std::uint64_t>(value * 1000) : 0;
  }
  return whole * 1000 + fraction;
}

void KinetoReader::read_event(const Visit& visit) {
  ++events_;
  KinetoEvent& event = event_;
  event.name.clear();
  event.args.clear();
  event.time_ns = event.duration_ns = 0;
  event.pid = event.tid = 0;
  Interest interest = Interest::kNone;
  bool has_category = false;
  bool metadata = false;
  bool decided = false;
  for (std::string_view key; json_.next_key(key);) {
    if (key == "ph") {
      metadata = json_.text() == "M";
    } else if (key == "cat") {
      interest = interest_of(json_.text());
      has_category = true;
      if (interest == Interest::kNone) return json_.leave();
    } else if (key == "name") {
      event.name = json_.text();
    } else if (key == "ts") {
      event.time_ns = nanoseconds_of(json_.type() == JsonType::kNumber ? json_.number() : json_.text());
    } else if (key == "dur") {
      event.duration_ns = nanoseconds_of(json_.type() == JsonType::kNumber ? json_.number() : json_.text());
    } else if (key == "pid") {
      event.pid = id_of(json_);
    } else if (key == "tid") {
      event.tid = id_of(json_);
    } else if (key == "args") {
      event.args = json_.raw();
    } else {
      json_.skip();
    }
    if (!decided && has_category && !event.name.empty()) {
      decided = true;
      if (!wanted(interest, event)) return json_.leave();
    }
  }
  if (!json_.ok()) return;
  if (metadata) {
    event.kind = KinetoEvent::Kind::kName;
    visit(event);
  } else if (decided) {
    visit(event);
  }
}

void KinetoReader::read_groups() {
  if (!json_.enter_array()) return json_.skip();
  while (json_.next_element()) {
    if (!json_.enter_object()) {
      json_.skip();
      continue;
    }
    KinetoGroup& group = header_.groups.emplace_back();
    for (std::string_view key; json_.next_key(key);) {
      if (key == "pg_name")
        group.name = json_.text();
      else if (key == "pg_desc")
        group.description = json_.text();
      else if (key == "ranks")
        group.ranks = parse_ranks(json_.raw());
      else
        json_.skip();
    }
  }
}

void KinetoReader::read_distributed_info() {
  if (!json_.enter_object()) return json_.skip();
  for (std::string_view key; json_.next_key(key);) {
    if (key == "rank")
      header_.rank = static_cast<int>(whole_number(json_.raw()));
    else if (key == "world_size")
      header_.world_size = static_cast<int>(whole_number(json_.raw()));
    else if (key == "backend")
      header_.backend = json_.text();
    else if (key == "nccl_version")
      header_.nccl_version = json_.text();
    else if (key == "pg_config")
      read_groups();
    else
      json_.skip();
  }
}

Status KinetoReader::read(const Visit& visit) {
  const auto read_events = [&] {
    while (json_.next_element()) {
      if (json_.enter_object())
        read_event(visit);
      else
        json_.skip();
    }
  };
  // Chrome's format allows the bare list too.
  if (json_.enter_array()) {
    read_events();
  } else if (json_.enter_object()) {
    for (std::string_view key; json_.next_key(key);) {
      if (key == "traceEvents" && json_.enter_array())
        read_events();
      else if (key == "baseTimeNanoseconds")
        header_.base_ns = static_cast<std::uint64_t>(whole_number(json_.raw()));
      else if (key == "distributedInfo")
        read_distributed_info();
      else
        json_.skip();
    }
  }
  return json_.status();
}

int kineto_rank(std::string_view beginning) {
  const std::size_t at = beginning.find("\"distributedInfo\"");
  if (at == std::string_view::npos) return -1;
  const std::string_view info = beginning.substr(at);
  const std::size_t rank = info.find("\"rank\":");
  if (rank == std::string_view::npos) return -1;
  std::string_view digits = info.substr(rank + 7);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  int value = -1;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace plumbline::reader::imports
