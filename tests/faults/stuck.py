"""Trains on two ranks; every few steps rank 1 is stuck for some seconds in another way, and then goes on.

The line at which it is stuck ends in a comment that names the kind. An argument limits the kinds, comma-separated.
"""

import ctypes
import itertools
import os
import queue
import sys
import threading
import time

import torch
import torch.distributed as dist

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import witness  # noqa: E402
from tiny_model import TinyModel, batch, cross_entropy  # noqa: E402

SECONDS = 3.9  # a look comes after 2 to 3.1 s, and the next one after twice that
STEPS_BETWEEN = 4  # so that the usual step is a short one


def in_queue():
    try:
        queue.Queue().get(timeout=SECONDS)  # stuck: queue
    except queue.Empty:
        pass


def in_native_code():
    ctypes.PyDLL(None).usleep(int(SECONDS * 1e6))  # stuck: native


def in_io():
    reader, writer = os.pipe()
    threading.Timer(SECONDS, lambda: os.write(writer, b"x")).start()
    os.read(reader, 1)  # stuck: io


def in_lock():
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(SECONDS, lock.release).start()
    with lock:  # stuck: lock
        pass


def in_sleep():
    time.sleep(SECONDS)  # stuck: sleep


def in_loop():
    end = time.monotonic() + SECONDS
    any(time.monotonic() > end for _ in itertools.count())  # stuck: loop


KINDS = {"queue": in_queue, "native": in_native_code, "io": in_io, "lock": in_lock, "sleep": in_sleep, "loop": in_loop}


def main():
    kinds = sys.argv[1].split(",") if len(sys.argv) > 1 else list(KINDS)
    rank, world = witness.start()
    model = TinyModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(STEPS_BETWEEN * len(kinds)):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if rank == 1 and step % STEPS_BETWEEN == STEPS_BETWEEN - 1:
            KINDS[kinds[step // STEPS_BETWEEN]]()
        total = loss.detach().clone()
        dist.all_reduce(total)  # waits: all_reduce
        witness.loss(total)
    witness.finish()


if __name__ == "__main__":
    main()
