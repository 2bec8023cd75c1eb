"""One process, one gloo group of its own: prints the CPU nanoseconds that one all_reduce costs, in the thread that calls and in all."""

import statistics
import tempfile
import time

import torch
import torch.distributed as dist

CALLS = 1000
BLOCKS = 40


def block(tensor):
    before = time.thread_time_ns(), time.process_time_ns()
    for _ in range(CALLS):
        dist.all_reduce(tensor)
    after = time.thread_time_ns(), time.process_time_ns()
    return [(b - a) / CALLS for a, b in zip(before, after)]


def main():
    torch.set_num_threads(1)
    store = tempfile.mktemp(prefix="plumbline-store-")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    tensor = torch.ones(1)
    for _ in range(2):
        block(tensor)
    print(*(statistics.median(costs) for costs in zip(*(block(tensor) for _ in range(BLOCKS)))), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
