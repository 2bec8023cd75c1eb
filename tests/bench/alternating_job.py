"""A job timed in short blocks of steps: prints the CPU seconds of a step of each block, as JSON on rank 0.

    alternating_job.py SIZE BLOCKS STEPS_A_BLOCK [CONTROL]

SIZE is one of bench_job.py's, for its DDP job; or `collective`, for steps that are 400 calls of all_reduce. Each
block has two figures: of the calling thread and of the whole process. The calls are made on one core under SCHED_BATCH,
in which a thread that is woken waits for its turn: each call is then two switches of threads, recorded or not. Else a
call that takes a little longer may be one in which the worker comes first, and that saves or costs a microsecond.

With CONTROL, the file that sets the level of a run, recording is off in every second block: 0, 2, 4 … are recorded,
1, 3, 5 … are not. The first step after each switch is not timed: the job has slept, and its caches are cold.
"""

import itertools
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from bench_job import SIZES

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
from tiny_model import TinyModel, batch, cross_entropy  # noqa: E402

CALLS = 400  # of a step of all_reduce
WARM_UP = 6  # and past the first steps, of which tensors are captured
NOTICED = 1.3  # seconds after which every writer has read the file again; it does once a second


def switch(control, on):
    with open(control + ".new", "w") as file:
        file.write(f'level = "{"watch" if on else "off"}"\n')
    os.replace(control + ".new", control)


def ddp_step(size, rank, world):
    model = DistributedDataParallel(TinyModel(**size["model"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    taken = itertools.count()

    def step():
        inputs, labels = batch(next(taken), rank, world, **size["batch"])
        cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def collective_step():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    tensor = torch.ones(1)

    def step():
        for _ in range(CALLS):
            dist.all_reduce(tensor)

    return step


def cost_of(step):
    before = time.thread_time(), time.process_time()
    step()
    return time.thread_time() - before[0], time.process_time() - before[1]


def main():
    size, blocks, block_steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    control = sys.argv[4] if len(sys.argv) > 4 else None
    torch.set_num_threads(1)
    torch.manual_seed(0)
    collective = collective_step() if size == "collective" else None  # before there are threads
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    step = collective or ddp_step(SIZES[size], rank, world)
    for _ in range(WARM_UP):
        step()
    costs = []
    for block in range(blocks):
        if control:
            if rank == 0:
                switch(control, on=block % 2 == 0)
            time.sleep(NOTICED)
            step()
        dist.barrier()
        costs.append([statistics.median(column) for column in zip(*(cost_of(step) for _ in range(block_steps)))])
    if rank == 0:
        print(json.dumps(costs), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
