"""Forks trainers one after another and kills each with SIGKILL at a random moment.

Each trainer counts, in a memory-mapped file of its own, what it has surely done: collectives enqueued, waits that came
back, optimizer steps that ended. What it had counted when it died must be in its trace.

    kill_target.py COUNTS_DIRECTORY KILLS SEED
"""

import mmap
import os
import random
import signal
import struct
import sys
import time

import torch
import torch.distributed as dist

SLOTS = ("enqueued", "waited", "steps")


def train(counts, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=0, world_size=1)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    done = [0, 0, 0]
    while True:
        model(torch.ones(4, 8)).sum().backward()
        for parameter in model.parameters():
            work = dist.all_reduce(parameter.grad, async_op=True)
            done[0] += 1
            counts[:24] = struct.pack("3Q", *done)
            work.wait()
            done[1] += 1
            counts[:24] = struct.pack("3Q", *done)
        optimizer.step()
        done[2] += 1
        counts[:24] = struct.pack("3Q", *done)


def main():
    folder, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    for _ in range(kills):
        path = os.path.join(folder, "new")
        with open(path, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            counts = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        pid = os.fork()
        if pid == 0:
            train(counts, os.path.join(folder, f"store-{os.getpid()}"))
        while struct.unpack("3Q", counts[:24])[2] == 0:
            if os.waitpid(pid, os.WNOHANG)[0]:
                sys.exit("a trainer ended before its first step")
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.15))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.rename(path, os.path.join(folder, f"counts-{pid}"))


if __name__ == "__main__":
    main()
