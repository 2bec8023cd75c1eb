"""expect.py WHAT RUN_READER RUN OUTPUT: compares a recorded run with what the job itself printed (its last line).

WHAT: collectives, allocator, expandable or train. Exit status 0: equal.
"""

import collections
import json
import subprocess
import sys


class Run:
    def __init__(self, run_reader, run):
        lines = subprocess.run([run_reader, "dump", run], stdout=subprocess.PIPE, text=True).stdout.splitlines()
        self.records = [json.loads(line) for line in lines]
        self.events = [record for record in self.records if record["record"] == "event"]

    def of_kind(self, *kinds):
        return [event for event in self.events if event["kind"] in kinds]

    def hook(self, name):
        return next((record for record in self.records if record["record"] == "hook" and record["name"] == name), None)


class Comparison:
    def __init__(self):
        self.wrong = 0

    def equal(self, what, job, recorded):
        if job != recorded:
            self.wrong += 1
            print(f"{what}: the job says {job}, the trace {recorded}")


def collectives(compare, run, job):
    nccl = [event for event in run.of_kind("collective") if event["layer"] == "nccl" and event["op"] != "group_call"]
    compare.equal("collectives", job["nccl"], dict(collections.Counter(event["op"] for event in nccl)))
    ids = {event["id"] for event in nccl}
    returns = [event for event in run.of_kind("collective_return") if event["id"] in ids]
    compare.equal("return codes", [0] * len(nccl), [event["code"] for event in returns])
    captured = [event for event in returns if event.get("outcome") == "captured"]
    compare.equal("captured collectives", job["captured"], len(captured))
    launches = [event["value"] for event in run.of_kind("sample") if event["counter"] == "graph_launches"]
    compare.equal("graph launches", job["graph_launches"], max(launches, default=0))
    compare.equal("collectives without a stream", 0, sum("stream" not in event for event in nccl))
    outer = {event["id"] for event in run.of_kind("collective") if event["layer"] == "c10d"}
    parents = {event["id"]: event.get("parent", 0) for event in run.of_kind("collective")}
    orphans = [event for event in nccl if parents[event["id"]] not in outer and parents.get(parents[event["id"]], 0) not in outer]
    compare.equal("collectives outside of any c10d call", 0, len(orphans))
    joined = [event for event in run.of_kind("comm") if event["event"] == "init" and event.get("group")]
    compare.equal("communicators that belong to a process group", True, len(joined) > 0)


def by_source(run, kind, source):
    return [event for event in run.of_kind(kind) if event["source"] == source]


def allocator(compare, run, job):
    compare.equal("blocks", job["blocks"], len(by_source(run, "alloc", "caching_block")))
    compare.equal("frees of blocks", job["block_frees"], len(by_source(run, "free", "caching_block")))
    compare.equal("cudaMalloc calls", job["device_allocations"], len(by_source(run, "alloc", "cuda_malloc")))
    compare.equal("cudaFree calls", job["device_frees"], len(by_source(run, "free", "cuda_malloc")))
    failed = {event["size"] for event in by_source(run, "alloc_failed", "caching_block")}
    compare.equal("the failed request", {job["too_much"]}, failed)


def expandable(compare, run, job):
    compare.equal("blocks", job["blocks"], len(by_source(run, "alloc", "caching_block")))
    compare.equal("segments that were mapped", True, len(by_source(run, "alloc", "caching_segment")) > 0)
    compare.equal("cudaMalloc calls", 0, len(by_source(run, "alloc", "cuda_malloc")))


def train(compare, run, job):
    compare.equal("optimizer steps", int(job.split()[0]), len(run.of_kind("step_end")))
    compare.equal("reductions of gradients", True, len(run.of_kind("collective")) > 0)


def main(what, run_reader, run, output):
    with open(output) as file:
        last = file.read().splitlines()[-1]
    compare = Comparison()
    recorded = Run(run_reader, run)
    check = {"collectives": collectives, "allocator": allocator, "expandable": expandable, "train": train}[what]
    check(compare, recorded, last if what == "train" else json.loads(last))
    for name in ("NCCL C API", "CUDA runtime allocation calls", "CUDA caching allocator trace"):
        if compare.wrong:
            print(f"hook {name}: {recorded.hook(name)}")
    return 1 if compare.wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
