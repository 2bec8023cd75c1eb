"""A DDP job for timing: `--size tiny` has operators of microseconds, `--size real` of milliseconds.

Prints one JSON line on rank 0: seconds of the training loop, its CPU seconds over all threads of the process, those of the
thread that writes the trace, and the CPU seconds of the process.
"""

import argparse
import contextlib
import glob
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
from tiny_model import TinyModel, batch, cross_entropy  # noqa: E402

SIZES = {
    "tiny": {"model": {"width": 64, "layers": 4, "heads": 4}, "batch": {"rows": 8, "length": 128}, "steps": 60},
    "real": {"model": {"width": 768, "layers": 2, "heads": 12}, "batch": {"rows": 4, "length": 256}, "steps": 8},
}


def writer_cpu_s():
    """Of Plumbline's writer thread so far; 0 where there is none."""
    for task in glob.glob("/proc/self/task/*"):
        with open(os.path.join(task, "comm")) as name, open(os.path.join(task, "schedstat")) as ran:
            if name.read().startswith("plumbline"):
                return int(ran.read().split()[0]) * 1e-9
    return 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", choices=SIZES, required=True)
    options.add_argument("--profiler", action="store_true", help="under torch.profiler with memory")
    options = options.parse_args()
    size = SIZES[options.size]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DistributedDataParallel(TinyModel(**size["model"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(index):
        inputs, labels = batch(index, rank, world, **size["batch"])
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    for index in range(3):
        step(index)
    dist.barrier()
    profiler = torch.profiler.profile(profile_memory=True) if options.profiler else contextlib.nullcontext()
    before = time.perf_counter(), time.process_time(), writer_cpu_s()
    with profiler:
        for index in range(size["steps"]):
            step(index)
    after = time.perf_counter(), time.process_time(), writer_cpu_s()
    dist.barrier()
    if rank == 0:
        costs = dict(zip(("loop_s", "loop_cpu_s", "writer_cpu_s"), (b - a for a, b in zip(before, after))))
        print(json.dumps(costs | {"process_cpu_s": time.process_time()}), flush=True)
    dist.destroy_process_group()
    time.sleep(0.3)


if __name__ == "__main__":
    main()
