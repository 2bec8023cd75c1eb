#include "tests/fuzz/import_seeds.hpp"

#include <cstdint>
#include <string_view>

namespace plumbline::fuzz {
namespace {

// Writes a pickle of protocol 2 as PyTorch does.
class Pickle {
 public:
  Pickle() : bytes_("\x80\x02") {}
  Pickle& raw(std::string_view opcodes) {
    bytes_ += opcodes;
    return *this;
  }
  Pickle& text(std::string_view text) {
    bytes_ += 'X';
    little_endian(text.size(), 4);
    bytes_ += text;
    return *this;
  }
  Pickle& number(std::uint64_t value) {
    bytes_ += "\x8a\x08";
    little_endian(value, 8);
    return *this;
  }
  std::string done() { return bytes_ + '.'; }

 private:
  void little_endian(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  std::string bytes_;
};

std::string flight_dump() {
  Pickle p;
  p.raw("}(").text("version").text("2.9");
  p.text("pg_config").raw("}").text("0").raw("}(").text("name").text("0").text("desc").text("default_pg");
  p.text("ranks").text("[0, 1]").raw("us");
  p.text("pg_status").raw("}").text("0").raw("}(").text("last_enqueued_collective").number(12);
  p.text("last_started_collective").raw("J\xff\xff\xff\xff").text("last_completed_collective").raw("K\x0bus");
  p.text("entries").raw("](");
  for (std::uint64_t i = 0; i < 2; ++i) {
    p.raw("}(").text("pg_id").raw(std::string_view("K\0", 2)).text("process_group").text("0").text("default_pg");
    p.raw("\x86").text("collective_seq_id").number(11 + i).text("profiling_name").text("nccl:all_reduce");
    p.text("time_created_ns").number(1'700'000'000'000'000'000 + i).text("input_sizes").raw("](](K\x04K\x08").raw("ee");
    p.text("input_dtypes").raw("]").text("Float").raw("a").text("retired").raw("\x89").text("state").text("scheduled");
    p.text("frames").raw("]}(").text("name").text("f").text("filename").text("a.py").text("line").raw("K\x07ua");
    p.raw("u");
  }
  return p.raw("eu").done();
}

std::string memory_snapshot() {
  Pickle p;
  p.raw("}(").text("segments").raw("]}(").text("address").number(0x7f0000000000).text("total_size").number(2 << 20);
  p.text("device").raw(std::string_view("K\0", 2)).text("blocks").raw("]}(").text("size").number(1 << 20);
  p.text("state").text("active_allocated").text("frames").raw("]q\x01").raw("}(").text("name").text("f");
  p.text("filename").text("a.py").text("line").raw("K\x03ua").raw("uaua");
  p.text("device_traces").raw("]](");
  for (const char* const action : {"segment_alloc", "alloc", "free_completed", "oom", "snapshot"}) {
    p.raw("}(").text("action").text(action).text("addr").number(0x7f0000000000).text("size").number(1 << 20);
    p.text("time_us").number(1'700'000'000'000'000).text("frames").raw("h\x01u");
  }
  return p.raw("eau").done();
}

constexpr std::string_view kKineto = R"json({
  "schemaVersion": 1,
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4, "pg_config": [
    {"pg_name": "0", "pg_desc": "default_pg", "ranks": [0, 1, 2, 3]}]},
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 9, "tid": 9, "ts": 5113406969377.881,
   "dur": 116579.963, "args": {"External id": 1}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 9, "tid": 9, "ts": 5113406969378.1, "dur": 3.5,
   "args": {"Input Dims": [[4, 8], [], "}"]}},
  {"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 9, "tid": 10, "ts": 5113406969400, "dur": 30,
   "args": {"External id": 7, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 32,
   "Out msg nelems": 32, "Group size": 4, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum(x)", "pid": 0, "tid": 20,
   "ts": 5113406969500.5, "dur": 88.25, "args": {"External id": 7}},
  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 9, "tid": 9, "ts": 5113406969600,
   "args": {"Bytes": -512, "Addr": 4096, "Device Type": 1, "Device Id": 0}},
  {"ph": "X", "cat": "user_annotation", "name": "Optimizer.step#AdamW.step", "pid": 9, "tid": 9,
   "ts": 5113406969700, "dur": 12},
  {"name": "thread_name", "ph": "M", "pid": 9, "tid": 9, "args": {"name": "thread \u00e9"}}
  ]}
)json";

constexpr std::string_view kLog =
    "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"train.py\", line 11, in main\n"
    "[rank1]:     raise RuntimeError(\"x\")\n[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate "
    "2.50 GiB.\n"
    "[rank0]:[E321 02:07:08.408 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=6, NumelOut=6, Timeout(ms)=600) ran for 601 milliseconds before\n"
    "[rank0]:[E321 02:07:08.409 ProcessGroupNCCL.cpp:2268] [PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by "
    "watchdog at work sequence id: 5 PG status: last enqueued work: 7, last completed work: 4\n"
    "\t - To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n"
    "\t   [7] finished collective #182, but didn't join collective #183 (count from 1)\n"
    "\t   #315 started ranks:\n\t     [0, 1, 2] started ALLREDUCE\n"
    "[rank1]: RuntimeError: Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, "
    "TensorShape=[8], TensorDtypes=Float, x), but Rank 0 is running collective: "
    "CollectiveFingerPrint(SequenceNumber=3, "
    "OpType=BROADCAST, TensorShape=[4, 2], TensorDtypes=Float, x)\n"
    "node7:17:18 [7] NCCL INFO AllReduce: opCount 1f sendbuff 0x1 recvbuff 0x2 count 1 datatype 7 op 0 root 0 comm 0x3 "
    "[nranks=16] stream 0x4\n"
    "W1129 16:51:09.438000 12129 torch/x.py:1012] Sending process 120 closing signal SIGTERM\n"
    "Failures:\n[0]:\n  time      : 2026-11-29_16:51:09\n  host      : h\n  rank      : 0 (local_rank: 0)\n"
    "  exitcode  : -15 (pid: 120)\n  error_file: <N/A>\n  ValueError: y\n=====\n";

constexpr std::string_view kStacks =
    "Process 11943: python hang.py\nPython v3.11.7 (/usr/bin/python3)\n\nThread 11943 (idle): \"MainThread\"\n"
    "    0x7ff151aa3f16 (libc.so.6)\n    backward (torch/autograd/__init__.py:381)\n        Locals:\n"
    "            x: 1\n    main (hang.py:20)\n\nTimeout (0:00:30)!\n"
    "Thread 0x00007ff0910fe6c0 (most recent call first):\n  File \"/a/threading.py\", line 327 in wait\n\n"
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x01 (most recent call first):\n"
    "  File \"b.py\", line 3 in <module>\n";

constexpr std::string_view kRas =
    "NCCL version 2.26.2 compiled with CUDA 12.6\n\nCommunicators... (0.00s)\n=============\n\n"
    "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
    "    #  in group  per comm  per node  per comm  in group\n"
    "    0         1         4         8        32        32   RUNNING  MISMATCH\n\n"
    "#0-0 (fa93daea854b060b) MISMATCH\n  Communicator ranks have different AllGather operation counts\n"
    "  30 ranks have launched up to operation 640\n  2 ranks have launched up to operation 641\n"
    "  Rank 12 -- GPU 4 managed by process 323032 on node node1\n"
    "  Rank 13 has launched up to operation 60 -- GPU 3 managed by process 16 on node node1\n\n"
    "#0-1 (a) INCOMPLETE\n  Missing communicator data from 1 rank\n  The missing rank: 21\n";

constexpr std::string_view kPySpyJson =
    R"([{"pid": 1, "thread_name": "MainThread", "os_thread_id": 2, "active": false, "owns_gil": true,)"
    R"( "frames": [{"name": "f", "filename": "a.py", "line": 3}]}])";

constexpr std::string_view kRasJson =
    R"({"nccl_version": "2.29.1", "communicators": [{"hash": "0xae", "size": 2, "ranks": [{"rank": 0,)"
    R"( "host": "node0", "pid": 5, "status": {"abort_flag": true}, "collective_counts": {"AllReduce": 7}}]}]})";

}  // namespace

std::vector<ImportSeed> import_seeds() {
  return {{"dump_0", flight_dump()},
          {"snapshot_rank0.pickle", memory_snapshot()},
          {"trace_rank3.json", std::string(kKineto)},
          {"job.log", std::string(kLog)},
          {"stacks_rank0.txt", std::string(kStacks)},
          {"ras.txt", std::string(kRas)},
          {"stacks_rank1.json", std::string(kPySpyJson)},
          {"ras.json", std::string(kRasJson)}};
}

}  // namespace plumbline::fuzz
