"""How fast other tools' files are read: whole processes, wall and CPU time.

    import_bench.py --run-reader build/bin/run-reader [--python PYTHON] [--only flight,kineto,snapshot]
                    [--ranks 256] [--entries 2000] [--kineto-mb 1000] [--snapshot-entries 1000000]

flight    dumps of a hang (one rank never joins the last call of its groups), `run-reader diagnose` beside PyTorch's fr_trace
kineto    one Chrome trace of a profiled step, `run-reader import`
snapshot  one CUDA memory snapshot, `run-reader import`
"""

import argparse
import json
import os
import pickle
import resource
import shutil
import subprocess
import sys
import tempfile
import time

FR_TRACE = "torch.distributed.flight_recorder.fr_trace"
NS = 1_700_000_000_000_000_000


def groups_of(rank, ranks):
    """Of the rank: the world, its tensor group (8 neighbours) and its data group (every eighth rank)."""
    tensor = [r for r in range(ranks) if r // 8 == rank // 8]
    data = [r for r in range(ranks) if r % 8 == rank % 8]
    return [("0", "default_pg", list(range(ranks))), (f"t{rank // 8}", "tensor", tensor), (f"d{rank % 8}", "data", data)]


def flight_dump(rank, ranks, entries):
    """Four calls of the tensor group, then one of the data group, and so on; the guilty rank never makes the last."""
    guilty = rank == ranks // 2
    groups = groups_of(rank, ranks)
    calls = [0, 0, 0]
    rows = []
    for i in range(entries - guilty):
        begin = NS + i * 5_000_000 + rank * 1000
        done = i + 1 < entries
        which = 0 if i % 100 == 99 else 2 if i % 5 == 4 else 1
        calls[which] += 1
        rows.append({
            "frames": [{"name": "step", "filename": "train.py", "line": 10 + i % 3}],
            "record_id": i, "pg_id": which, "process_group": groups[which][:2], "collective_seq_id": calls[which],
            "p2p_seq_id": 0, "op_id": calls[which], "profiling_name": "nccl:all_reduce", "time_created_ns": begin,
            "input_sizes": ((1024, 1024),), "input_dtypes": ["Float"], "output_sizes": ((1024, 1024),),
            "output_dtypes": ["Float"], "state": "completed" if done else "scheduled",
            "time_discovered_started_ns": begin + 1000 if done else None,
            "time_discovered_completed_ns": begin + 900_000 if done else None,
            "retired": done, "timeout_ms": 600000, "is_p2p": False,
        })  # fmt: skip
    waiting = 0 if guilty else 1
    status = {
        str(k): {"last_enqueued_collective": n, "last_started_collective": -1,
                 "last_completed_collective": n - (waiting if k == which else 0)}
        for k, n in enumerate(calls)
    }  # fmt: skip
    config = {name: {"name": name, "desc": kind, "ranks": str(members)} for name, kind, members in groups}
    return {"version": "2.10", "nccl_version": "2.28.9", "entries": rows, "pg_status": status, "pg_config": config}


def write_flight(folder, options):
    for rank in range(options.ranks):
        with open(os.path.join(folder, f"dump_{rank}"), "wb") as file:
            pickle.dump(flight_dump(rank, options.ranks, options.entries), file)
    return folder


def write_kineto(folder, options):
    """Events as Kineto writes them, about 250 bytes each."""
    path = os.path.join(folder, "trace.json")
    kinds = [("cpu_op", "aten::mm"), ("kernel", "ampere_sgemm_128x64_tn"), ("cuda_runtime", "cudaLaunchKernel")]
    head = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 8}}
    with open(path, "w") as file:
        file.write(json.dumps(head, indent=2)[:-2] + ',\n  "traceEvents": [\n')
        block, i = [], 0
        while file.tell() < options.kineto_mb * 1_000_000:
            block.clear()
            for _ in range(2000):
                category, name = kinds[i % 3]
                block.append(
                    f'  {{\n    "ph": "X", "cat": "{category}", "name": "{name}", "pid": 0, "tid": {7 + i % 3},\n'
                    f'    "ts": {1_000_000 + i * 3}.{i % 1000:03d}, "dur": 2.500,\n    "args": {{\n'
                    f'      "External id": {i // 3}, "Record function id": 0, "Ev Idx": {i}, "correlation": {i}\n'
                    "    }\n  },\n"
                )
                i += 1
            file.write("".join(block))
        file.write('  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 9}\n  ]\n}\n')
    return path


def write_snapshot(folder, options):
    path = os.path.join(folder, "snapshot.pickle")
    frames = [{"name": "forward", "filename": "model.py", "line": 42}, {"name": "main", "filename": "t.py", "line": 7}]
    trace = [
        {"action": "alloc" if i % 2 == 0 else "free_completed", "addr": 0x7F0000000000 + (i // 2) * 512, "size": 512,
         "stream": 0, "time_us": 1_700_000_000_000_000 + i, "frames": frames}
        for i in range(options.snapshot_entries)
    ]  # fmt: skip
    with open(path, "wb") as file:
        pickle.dump({"segments": [], "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}, file)
    return path


def measure(line):
    """Wall seconds, CPU seconds, exit status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    ended = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode not in (0, 1, 3):
        sys.exit(f"{' '.join(line)}: {ended.stderr.decode()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, ended.returncode


def tell(what, figures, more=""):
    wall, cpu, status = figures
    print(f"{what}: {wall:.2f} s, CPU {cpu:.2f} s, exit {status}{more}", flush=True)


def flight(options, folder):
    what = f"{options.ranks} dumps of {options.entries} entries"
    dumps, run = os.path.join(folder, "dumps"), os.path.join(folder, "run")
    os.mkdir(dumps)
    write_flight(dumps, options)
    dumped = measure([options.run_reader, "diagnose", dumps])
    tell(f"diagnose of {what}", dumped)
    measure([options.run_reader, "import", dumps, "-o", run])
    traced = measure([options.run_reader, "diagnose", run])
    tell("diagnose of traces of the same", traced)
    if options.python:
        theirs = measure([options.python, "-m", FR_TRACE, "--prefix", "dump_", dumps])
        times = f", {theirs[0] / dumped[0]:.0f} and {theirs[0] / traced[0]:.0f} times as long"
        tell("fr_trace of the dumps", theirs, times)


def kineto(options, folder):
    path = write_kineto(folder, options)
    size = os.path.getsize(path) / 1e6
    figures = measure([options.run_reader, "import", path, "-o", os.path.join(folder, "run")])
    tell(f"import of a Kineto trace of {size:.0f} MB", figures, f", {size / figures[0]:.0f} MB/s")


def snapshot(options, folder):
    path = write_snapshot(folder, options)
    figures = measure([options.run_reader, "import", path, "-o", os.path.join(folder, "run")])
    tell(f"import of a snapshot of {options.snapshot_entries} entries", figures)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run-reader", required=True)
    options.add_argument("--python", help="one with torch, for fr_trace")
    options.add_argument("--only", default="snapshot,flight,kineto")
    options.add_argument("--ranks", type=int, default=256)
    options.add_argument("--entries", type=int, default=2000)
    options.add_argument("--kineto-mb", type=int, default=1000)
    options.add_argument("--snapshot-entries", type=int, default=1_000_000)
    options = options.parse_args()
    for name in options.only.split(","):
        folder = tempfile.mkdtemp(prefix="plumbline-bench-")
        try:
            {"flight": flight, "kineto": kineto, "snapshot": snapshot}[name](options, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
