#include "reader/import/kineto.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "reader/import/flight_names.hpp"
#include "reader/import/kineto_reader.hpp"

namespace plumbline::reader::imports {
namespace {

using recorder::Op;
using recorder::Outcome;
using recorder::Source;

// What arguments say of a collective; of an event of memory.
struct Arguments {
  std::int64_t external_id = -1;
  std::string collective;
  std::string dtype;
  std::uint64_t count_in = 0;
  std::uint64_t count_out = 0;
  std::string group;
  std::string description;
  std::string ranks;
  std::int64_t group_size = 0;
  std::int64_t rank_start = 0;
  std::int64_t rank_stride = 1;
  std::int64_t source_rank = -1;
  std::int64_t destination_rank = -1;
  std::int64_t seq = -1;
  bool uneven = false;
  std::uint64_t dims = 0;  // elements of the inputs, where only their shapes are given
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::int64_t device = -1;
  std::int64_t device_type = 0;
  std::int64_t reserved = 0;
  std::string name;
};

std::int64_t integer_of(JsonReader& json) {
  const std::string_view text = json.raw();
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "[[82624]]", "[[4, 8], [3]]": elements of the innermost lists.
std::uint64_t elements_of_dims(std::string_view dims) {
  std::uint64_t total = 0;
  for (std::size_t open = dims.rfind('['), end = dims.size(); open != std::string_view::npos;) {
    const std::string_view one = dims.substr(open, end - open);
    if (const auto extents = parse_ranks(one); !extents.empty()) {
      std::uint64_t product = 1;
      for (const int extent : extents) product *= static_cast<std::uint64_t>(std::max(extent, 0));
      total += product;
    }
    end = open;
    if (open == 0) break;
    open = dims.rfind('[', open - 1);
  }
  return total;
}

Arguments arguments_of(const std::string& text) {
  Arguments a;
  JsonReader json{std::string_view(text)};
  if (!json.enter_object()) return a;
  for (std::string_view key; json.next_key(key);) {
    if (key == "External id")
      a.external_id = integer_of(json);
    else if (key == "Collective name")
      a.collective = json.text();
    else if (key == "dtype")
      a.dtype = json.text();
    else if (key == "In msg nelems")
      a.count_in = static_cast<std::uint64_t>(std::max<std::int64_t>(integer_of(json), 0));
    else if (key == "Out msg nelems")
      a.count_out = static_cast<std::uint64_t>(std::max<std::int64_t>(integer_of(json), 0));
    else if (key == "Process Group Name")
      a.group = json.text();
    else if (key == "Process Group Description")
      a.description = json.text();
    else if (key == "Process Group Ranks")
      a.ranks = json.type() == JsonType::kText ? json.text() : json.raw();
    else if (key == "Group size")
      a.group_size = integer_of(json);
    else if (key == "Global rank start")
      a.rank_start = integer_of(json);
    else if (key == "Global rank stride")
      a.rank_stride = integer_of(json);
    else if (key == "Src Rank")
      a.source_rank = integer_of(json);
    else if (key == "Dst Rank")
      a.destination_rank = integer_of(json);
    else if (key == "Seq")
      a.seq = integer_of(json);
    else if (key == "In split size")
      a.uneven = !parse_ranks(json.raw()).empty();
    else if (key == "Input Dims")
      a.dims = elements_of_dims(json.raw());
    else if (key == "Addr")
      a.address = static_cast<std::uint64_t>(integer_of(json));
    else if (key == "Bytes")
      a.bytes = integer_of(json);
    else if (key == "Device Id")
      a.device = integer_of(json);
    else if (key == "Device Type")
      a.device_type = integer_of(json);
    else if (key == "Total Reserved")
      a.reserved = integer_of(json);
    else if (key == "name")
      a.name = json.text();
    else
      json.skip();
  }
  return a;
}

class Importer {
 public:
  explicit Importer(int rank) { process_.rank = rank; }

  void add(const KinetoEvent& event) {
    switch (event.kind) {
      case KinetoEvent::Kind::kAnnotation:
        return add_annotation(event);
      case KinetoEvent::Kind::kCollective:
        return add_collective(event);
      case KinetoEvent::Kind::kKernel:
        kernels_.push_back({event.time_ns, event.duration_ns, arguments_of(event.args), event.name, event.tid});
        return;
      case KinetoEvent::Kind::kMemory:
        return add_memory(event);
      case KinetoEvent::Kind::kName:
        if (event.name == "thread_name") thread_names_[event.tid] = arguments_of(event.args).name;
        return;
    }
  }

  ImportedProcess finish(const KinetoHeader& header) {
    if (header.rank >= 0) process_.rank = header.rank;
    process_.world_size = header.world_size;
    process_.formats = {"Kineto trace"};
    process_.lacks = {"exit", "settings of the optimizer"};
    if (!header.nccl_version.empty()) process_.facts.emplace_back("nccl", header.nccl_version);
    header_ = &header;
    if (named_.empty() && kernels_.empty()) take_backend_ranges();
    if (named_.empty() && process_.calls.empty()) take_kernels();
    join_kernels();
    take_named();
    number_calls();
    for (std::size_t i = 0; i < tids_.size(); ++i)
      process_.threads.push_back({static_cast<std::uint32_t>(tids_[i]), {}});
    for (const auto& [tid, name] : thread_names_)
      if (const auto it = thread_index_.find(tid); it != thread_index_.end()) process_.threads[it->second].name = name;
    shift(header.base_ns);
    return std::move(process_);
  }

 private:
  struct Kernel {
    std::uint64_t time_ns;
    std::uint64_t duration_ns;
    Arguments arguments;
    std::string name;
    std::int64_t stream;
  };
  struct Named {
    KinetoEvent event;
    Arguments arguments;
    const Kernel* kernel = nullptr;
  };

  std::uint32_t thread_of(std::int64_t tid) {
    const auto [it, is_new] = thread_index_.try_emplace(tid, static_cast<std::uint32_t>(tids_.size()));
    if (is_new) tids_.push_back(tid);
    return it->second;
  }

  void add_annotation(const KinetoEvent& event) {
    if (process_.pid == 0) process_.pid = static_cast<std::uint32_t>(event.pid);
    const std::string_view name = event.name;
    if (name.starts_with("nccl:") || name.starts_with("gloo:")) {
      backend_ranges_.push_back(event);
      return;
    }
    ImportedRange range;
    range.begin_ns = event.time_ns;
    range.end_ns = event.time_ns + event.duration_ns;
    range.thread = thread_of(event.tid);
    range.name = name;
    // "Optimizer.step#AdamW.step".
    constexpr std::string_view kStep = "Optimizer.step#";
    if (name.starts_with(kStep)) {
      range.optimizer_step = true;
      range.name = name.substr(kStep.size());
      if (range.name.ends_with(".step")) range.name.resize(range.name.size() - 5);
    }
    process_.ranges.push_back(std::move(range));
  }

  void add_collective(const KinetoEvent& event) {
    Arguments arguments = arguments_of(event.args);
    // Old traces have the event without its arguments; "wait" and "init" are no collectives.
    if (op_named(arguments.collective) == Op::kUnknown) return;
    named_.push_back({event, std::move(arguments)});
  }

  void add_memory(const KinetoEvent& event) {
    const Arguments a = arguments_of(event.args);
    constexpr std::int64_t kHost = 0;
    ImportedAllocation one;
    one.time_ns = event.time_ns;
    one.kind = a.bytes < 0 ? recorder::Kind::kFree : recorder::Kind::kAlloc;
    one.source = a.device_type == kHost ? Source::kCpu : Source::kCachingBlock;
    one.device = static_cast<std::int16_t>(a.device_type == kHost ? -1 : a.device);
    one.address = a.address;
    one.size = static_cast<std::uint64_t>(std::abs(a.bytes));
    process_.allocations.push_back(one);
  }

  // A collective's kernel carries the number of the call that launched it.
  void join_kernels() {
    std::unordered_map<std::int64_t, const Kernel*> by_id;
    for (const Kernel& kernel : kernels_)
      if (kernel.arguments.external_id >= 0) by_id.emplace(kernel.arguments.external_id, &kernel);
    bool any = false;
    for (Named& call : named_) {
      const auto it = by_id.find(call.arguments.external_id);
      if (it == by_id.end() || call.arguments.external_id < 0) continue;
      call.kernel = it->second;
      any = true;
    }
    if (!any && !named_.empty()) process_.lacks.emplace_back("times of collectives' execution");
  }

  int group_of(const Arguments& a) {
    if (a.group.empty() && a.ranks.empty()) return only_group();
    ImportedGroup group;
    group.name = a.group;
    group.description = a.description == "undefined" ? std::string() : a.description;
    group.backend = "nccl";
    if (a.ranks.find("...") == std::string::npos) group.ranks = parse_ranks(a.ranks);
    for (const KinetoGroup& known : header_->groups) {
      if (known.name != a.group) continue;
      if (group.ranks.empty()) group.ranks = known.ranks;
      if (group.description.empty()) group.description = known.description;
    }
    constexpr std::int64_t kMostRanks = 1 << 17;
    for (std::int64_t i = 0;
         group.ranks.size() < static_cast<std::size_t>(std::clamp<std::int64_t>(a.group_size, 0, kMostRanks)) &&
         i < a.group_size;
         ++i)
      group.ranks.push_back(static_cast<int>(a.rank_start + i * a.rank_stride));
    return add_group(std::move(group));
  }

  int add_group(ImportedGroup group) {
    const auto at = std::find(group.ranks.begin(), group.ranks.end(), process_.rank);
    group.rank = at == group.ranks.end() ? -1 : static_cast<int>(at - group.ranks.begin());
    return process_.group(group);
  }

  // Where calls do not name their group, and the job has one only.
  int only_group() {
    if (header_->groups.size() != 1) return -1;
    const KinetoGroup& known = header_->groups.front();
    return add_group({known.name, known.description, header_->backend, known.ranks, -1, {}});
  }

  void take_named() {
    for (const Named& one : named_) {
      const Arguments& a = one.arguments;
      ImportedCall call;
      call.op = op_named(a.collective);
      call.enqueue_ns = one.event.time_ns;
      call.return_ns = one.event.time_ns + one.event.duration_ns;
      call.dtype = dtype_named(a.dtype);
      call.count_in = a.count_in;
      call.count_out = a.count_out;
      call.tensors_in = a.count_in == 0 ? 0 : 1;
      call.tensors_out = a.count_out == 0 ? 0 : 1;
      call.uneven = a.uneven;
      call.group = group_of(a);
      call.seq = a.seq >= 0 ? static_cast<std::uint64_t>(a.seq) : kUnnumbered;
      if (call.op == Op::kSend) call.peer = static_cast<std::int32_t>(a.destination_rank);
      if (call.op == Op::kRecv) call.peer = static_cast<std::int32_t>(a.source_rank);
      call.thread = thread_of(one.event.tid);
      if (one.kernel != nullptr) {
        call.start_ns = std::max(one.kernel->time_ns, call.enqueue_ns);
        call.end_ns = call.start_ns + one.kernel->duration_ns;
        call.outcome = Outcome::kCompleted;
        call.stream = static_cast<std::uint64_t>(std::max<std::int64_t>(one.kernel->stream, 0));
        call.return_ns = 0;
      }
      process_.calls.push_back(std::move(call));
    }
  }

  // gloo has no other trace of its calls than the range of its worker thread; NCCL's is around the enqueuing.
  void take_backend_ranges() {
    for (const KinetoEvent& event : backend_ranges_) {
      const FlightOperation operation = parse_flight_operation(event.name);
      if (operation.op == Op::kUnknown) continue;
      const Arguments a = arguments_of(event.args);
      ImportedCall call;
      call.op = operation.op;
      call.peer = operation.peer;
      call.enqueue_ns = event.time_ns;
      const std::uint64_t end = event.time_ns + event.duration_ns;
      if (operation.backend == "gloo") {
        call.start_ns = event.time_ns;
        call.end_ns = end;
        call.outcome = Outcome::kCompleted;
      } else {
        call.return_ns = end;
      }
      call.count_in = call.count_out = a.dims;
      call.dtype = input_type(event.args);
      call.tensors_in = call.tensors_out = a.dims == 0 ? 0 : 1;
      call.group = only_group();
      call.seq = kUnnumbered;
      call.thread = thread_of(event.tid);
      process_.calls.push_back(std::move(call));
    }
    if (!process_.calls.empty()) process_.lacks.emplace_back("times of enqueuing");
  }

  static recorder::Dtype input_type(const std::string& args) {
    JsonReader json{std::string_view(args)};
    if (json.enter_object())
      for (std::string_view key; json.next_key(key);) {
        if (key == "Input type" && json.enter_array() && json.next_element()) return dtype_named(json.text());
        if (key != "Input type") json.skip();
      }
    return recorder::Dtype::kUnknown;
  }

  // Old traces: only the kernels' names tell what ran.
  void take_kernels() {
    for (const Kernel& kernel : kernels_) {
      const std::size_t from = kernel.name.find('_');
      const std::size_t to = from == std::string::npos ? from : kernel.name.find_first_of("_(", from + 1);
      const std::string name = from == std::string::npos ? std::string() : kernel.name.substr(from + 1, to - from - 1);
      ImportedCall call;
      call.op = name == "SendRecv" ? Op::kGroupCall : op_named(name);
      call.layer = recorder::Layer::kNccl;
      call.enqueue_ns = call.start_ns = kernel.time_ns;
      call.end_ns = kernel.time_ns + kernel.duration_ns;
      call.outcome = Outcome::kCompleted;
      call.stream = static_cast<std::uint64_t>(std::max<std::int64_t>(kernel.stream, 0));
      call.seq = kUnnumbered;
      call.thread = thread_of(kernel.stream);
      process_.calls.push_back(std::move(call));
    }
    if (!kernels_.empty()) process_.lacks.emplace_back("groups and sizes of collectives");
  }

  void number_calls() {
    std::stable_sort(process_.calls.begin(), process_.calls.end(),
                     [](const ImportedCall& a, const ImportedCall& b) { return a.enqueue_ns < b.enqueue_ns; });
    std::map<std::pair<int, bool>, std::uint64_t> next;
    bool counted = false;
    for (ImportedCall& call : process_.calls) {
      const bool point_to_point = call.op == Op::kSend || call.op == Op::kRecv || call.op == Op::kRecvAnySource;
      if (call.seq != kUnnumbered) continue;
      call.seq = next[{call.group, point_to_point}]++;
      counted = true;
    }
    if (counted) process_.lacks.emplace_back("calls before the profile's start");
  }

  void shift(std::uint64_t base_ns) {
    const auto move = [&](std::uint64_t& time_ns) {
      if (time_ns != 0) time_ns += base_ns;
    };
    for (ImportedCall& call : process_.calls) {
      move(call.enqueue_ns);
      move(call.start_ns);
      move(call.end_ns);
      move(call.return_ns);
    }
    for (ImportedAllocation& one : process_.allocations) move(one.time_ns);
    for (ImportedRange& one : process_.ranges) {
      move(one.begin_ns);
      move(one.end_ns);
    }
  }

  static constexpr std::uint64_t kUnnumbered = ~std::uint64_t{0};

  ImportedProcess process_;
  const KinetoHeader* header_ = nullptr;
  std::vector<Named> named_;
  std::vector<Kernel> kernels_;
  std::vector<KinetoEvent> backend_ranges_;
  std::vector<std::int64_t> tids_;
  std::unordered_map<std::int64_t, std::uint32_t> thread_index_;
  std::map<std::int64_t, std::string> thread_names_;
};

}  // namespace

KinetoImport import_kineto(ByteSource& source, int rank) {
  KinetoReader reader(source);
  Importer importer(rank);
  KinetoImport result;
  result.status = reader.read([&](const KinetoEvent& event) { importer.add(event); });
  result.process = importer.finish(reader.header());
  result.events = reader.events();
  return result;
}

}  // namespace plumbline::reader::imports
