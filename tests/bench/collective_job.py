"""One process, one gloo group of its own: prints the CPU nanoseconds that one all_reduce costs.

With a run directory as argument the recording is switched off and on through its control file, block by block, and the
median of the differences between neighbouring blocks is printed beside the cost of an unrecorded call: what differs
from process to process (where threads and buffers lie) cancels out.
"""

import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist

CALLS = 1000
BLOCKS = 40


def block(tensor):
    before = time.process_time_ns()
    for _ in range(CALLS):
        dist.all_reduce(tensor)
    return (time.process_time_ns() - before) / CALLS


def switch(directory, level):
    path = os.path.join(directory, "control")
    with open(path + ".new", "w") as file:
        file.write(f'level = "{level}"\n')
    os.replace(path + ".new", path)
    time.sleep(1.2)  # the writer thread looks once a second


def main():
    torch.set_num_threads(1)
    store = tempfile.mktemp(prefix="plumbline-store-")
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    tensor = torch.ones(1)
    for _ in range(2):
        block(tensor)
    if len(sys.argv) > 1:
        off, on = [], []
        for _ in range(BLOCKS // 2):
            switch(sys.argv[1], "off")
            off.append(block(tensor))
            switch(sys.argv[1], "watch")
            on.append(block(tensor))
        extra = [b - a for a, b in zip(off, on)]
        print(statistics.median(off), statistics.median(extra), flush=True)
    else:
        print(statistics.median(block(tensor) for _ in range(BLOCKS)), 0, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
