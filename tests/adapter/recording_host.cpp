// A stand-in for the preload object: loads the adapter into a Python process (through ctypes), keeps every record that
// it pushes in memory, and prints them as JSON lines for the test that drives it.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "shim/adapter_api.hpp"

namespace {

using namespace plumbline::recorder;

std::mutex mutex;
std::vector<std::string> lines;
std::map<std::string, std::uint64_t> texts;
std::atomic<std::uint64_t> next{1};
std::atomic<bool> recording{true};
const PlumblineAdapter* adapter = nullptr;

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    out += *text;
  }
  return out + "\"";
}

// One JSON object, field by field.
class Line {
 public:
  explicit Line(const char* kind) : text_("{\"kind\":" + quoted(kind)) {}
  Line& field(const char* name, const std::string& raw) {
    text_ += "," + quoted(name) + ":" + raw;
    return *this;
  }
  Line& field(const char* name, std::uint64_t value) { return field(name, std::to_string(value)); }
  Line& field(const char* name, std::int32_t value) { return field(name, std::to_string(value)); }
  Line& field(const char* name, double value) {
    char number[40];
    std::snprintf(number, sizeof number, "%.17g", value);
    return field(name, std::string(std::isnan(value) ? "null" : number));
  }
  Line& field(const char* name, const char* value) { return field(name, quoted(value)); }
  void keep() {
    const std::lock_guard lock(mutex);
    lines.push_back(text_ + "}");
  }

 private:
  std::string text_;
};

std::uint64_t now() { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

std::uint64_t thread_number() { return std::hash<std::thread::id>()(std::this_thread::get_id()); }

std::string text_behind(std::uint64_t id) {
  const std::lock_guard lock(mutex);
  for (const auto& [text, number] : texts) {
    if (number == id) return text;
  }
  return "";
}

void keep_step(const StepRecord& r, const char* kind) {
  Line(kind)
      .field("name", text_behind(r.name).c_str())
      .field("handle", r.handle)
      .field("depth", std::uint64_t{r.header.depth})
      .field("raised", std::uint64_t{r.header.tag})
      .field("optimizer", r.optimizer)
      .field("key", r.key)
      .field("thread", thread_number())
      .keep();
}

void keep_step_group(const StepGroupRecord& r) {
  Line("step_group")
      .field("handle", r.handle)
      .field("index", std::uint64_t{r.header.tag & 0xffff})
      .field("groups", std::uint64_t{r.header.tag >> 16})
      .field("optimizer", r.optimizer)
      .field("key", r.key)
      .field("lr", r.lr)
      .field("weight_decay", r.weight_decay)
      .field("beta1", r.beta1)
      .field("beta2", r.beta2)
      .field("eps", r.eps)
      .field("momentum", r.momentum)
      .field("step", r.step)
      .field("params", std::uint64_t{r.params})
      .field("params_with_grad", std::uint64_t{r.params_with_grad})
      .field("elements", r.elements)
      .keep();
}

bool push(const RecordHeader* header) {
  switch (header->kind) {
    case Kind::kStepBegin:
      keep_step(*reinterpret_cast<const StepRecord*>(header), "step_begin");
      break;
    case Kind::kStepEnd:
      keep_step(*reinterpret_cast<const StepRecord*>(header), "step_end");
      break;
    case Kind::kStepGroup:
      keep_step_group(*reinterpret_cast<const StepGroupRecord*>(header));
      break;
    case Kind::kRangeBegin:
    case Kind::kRangeEnd: {
      const auto& range = *reinterpret_cast<const RangeRecord*>(header);
      Line(header->kind == Kind::kRangeBegin ? "range_begin" : "range_end")
          .field("name", text_behind(range.name).c_str())
          .field("handle", range.handle)
          .field("depth", std::uint64_t{header->depth})
          .field("thread", thread_number())
          .keep();
      break;
    }
    default:
      Line("other").field("number", std::uint64_t{static_cast<std::uint16_t>(header->kind)}).keep();
  }
  return true;
}

std::uint64_t text_id(const char* text, std::size_t length) {
  const std::lock_guard lock(mutex);
  return texts.try_emplace(std::string(text, length), texts.size() + 1).first->second;
}

std::uint64_t define_group(const char* name, const char* description, const char* backend, const char* ranks,
                           std::int32_t rank, std::int32_t size, std::uint64_t) {
  Line("group")
      .field("name", name)
      .field("description", description)
      .field("backend", backend)
      .field("ranks", ranks)
      .field("rank", rank)
      .field("size", size)
      .keep();
  return text_id(name, std::strlen(name));
}

void fact(const char* key, const char* value) { Line("fact").field("key", key).field("value", value).keep(); }

void promote(const char* why) { Line("promote").field("why", why).keep(); }

void hook_state(unsigned hook, const char* name, bool active, const char* detail) {
  Line("hook_state")
      .field("hook", std::uint64_t{hook})
      .field("name", name)
      .field("active", std::string(active ? "true" : "false"))
      .field("detail", detail)
      .keep();
}

void set_exception(const char* type, const char* message) {
  Line("exception").field("type", type).field("message", message).keep();
}

// What the tests want of each probe; nothing by default.
plumbline::recorder::CaptureWish wish{};

std::string hexadecimal(const std::uint8_t* bytes, std::size_t count) {
  std::string text;
  char digits[3];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

std::string list(const std::uint64_t* numbers, std::size_t count) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "," : "") + std::to_string(numbers[i]);
  return text + "]";
}

bool keep_capture(const plumbline::recorder::Capture* c) {
  Line line("capture");
  line.field("probe", c->probe)
      .field("name", c->name)
      .field("step", std::to_string(c->step))
      .field("occurrence", std::uint64_t{c->occurrence})
      .field("key", c->key)
      .field("dtype", static_cast<std::uint64_t>(c->dtype))
      .field("amount", static_cast<std::uint64_t>(c->amount))
      .field("shape", list(c->shape, c->dimensions))
      .field("indices", list(c->indices, c->index_count))
      .field("hashed", static_cast<std::uint64_t>(c->hash_kind))
      .field("data", hexadecimal(c->data, c->data_bytes).c_str())
      .field("detail", std::string(*c->detail != '\0' ? c->detail : "null"));
  if (const auto* found = c->statistics) {
    line.field("sum", found->sum).field("norm", found->norm).field("absmax", found->absmax);
    line.field("nans", found->nans).field("infs", found->infs).field("zeros", found->zeros);
  }
  line.keep();
  return true;
}

PlumblineHost table = {
    kPlumblineAdapterVersion,
    sizeof(PlumblineHost),
    now,
    [] { return recording.load(); },
    push,
    text_id,
    [] { return next.fetch_add(1); },
    define_group,
    promote,
    fact,
    [](unsigned) {},
    hook_state,
    set_exception,
    "",
    [](std::uint64_t) {},
    [](std::uint64_t) {},
    [] { return plumbline::recorder::Level::kOff; },
    keep_capture,
    [] {},
    [](std::int64_t) { return wish.full_bytes > 0 || wish.samples > 0 || wish.hash; },
    [](const char*) { return wish; },
    [](const void* data, std::size_t bytes) {
      return static_cast<std::uint64_t>(std::hash<std::string_view>()({static_cast<const char*>(data), bytes}));
    },
    [] { return false; },
    [](std::uint64_t) {},
    [] {},
    [] { return ""; },
};

}  // namespace

extern "C" {

// What the process says its torch is; before host_load.
void host_set_torch_version(const char* version) {
  static std::string kept;
  kept = version;
  table.torch_version = kept.c_str();
}

// The reason of a failure, null when the adapter is loaded.
const char* host_load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  const auto init = reinterpret_cast<PlumblineAdapterInit>(dlsym(library, "plumbline_adapter_init"));
  if (init == nullptr) return "plumbline_adapter_init is missing";
  adapter = init(&table);
  return adapter != nullptr ? nullptr : "the adapter refused";
}

void host_record(bool on) { recording = on; }

void host_wish(std::uint64_t full_bytes, std::uint64_t samples, bool hash, bool statistics) {
  wish = {full_bytes, samples, hash, statistics};
}

// All records so far, one JSON object a line; they are then forgotten.
const char* host_take() {
  static std::string all;
  const std::lock_guard lock(mutex);
  all.clear();
  for (const std::string& line : lines) all += line + "\n";
  lines.clear();
  return all.c_str();
}

}  // extern "C"
