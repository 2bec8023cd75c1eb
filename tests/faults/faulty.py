"""Trains a few steps and then ends, or meets trouble, in the way that the first argument names.

    segv        dereferences a null pointer in native code
    abort       two ranks: all_reduce with different sizes; gloo aborts one of them
    exit_now    os._exit(3), no handler runs
    exception   an uncaught RuntimeError
    fork        forks in the middle of training; the child trains nothing and ends both ways a child can
    vanish      deletes the run directory under the recorder's feet and trains on
    fill        fills the disk of the run directory and trains on
    descriptors closes every descriptor that is not its own, as a daemon does, and opens files under the same numbers
    interrupt   is interrupted from the keyboard
    fork_trains forks a child that trains too, without any collective
    exec        becomes another program, which trains from the start; once
    clean       nothing at all
"""

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import witness  # noqa: E402
from tiny_model import TinyModel, batch, cross_entropy  # noqa: E402

STEPS = 6


def fork_children():
    for leave in (os._exit, sys.exit):
        child = os.fork()
        if child == 0:
            torch.ones(1000).sum()
            leave(0)
        os.waitpid(child, 0)


def close_descriptors():
    """The files that take the numbers over must stay as they are."""
    os.closerange(3, 4096)
    with tempfile.TemporaryDirectory() as folder:
        files = [open(os.path.join(folder, str(number)), "w+b") for number in range(200)]  # noqa: SIM115
        time.sleep(0.5)
        if any(os.path.getsize(file.name) for file in files):
            sys.exit("a file of the job's was written to")
        for file in files:
            file.close()


def fork_training():
    child = os.fork()
    if child == 0:
        model = torch.nn.Linear(4, 4)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(STEPS):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
        sys.exit(0)
    os.waitpid(child, 0)


def meet(fault, rank):
    if fault == "segv":
        ctypes.string_at(0)
    elif fault == "abort":
        dist.all_reduce(torch.ones(72 if rank else 360))
    elif fault == "exit_now":
        os._exit(3)
    elif fault == "exception":
        raise RuntimeError("the loss is not a number, on purpose")
    elif fault == "fork":
        fork_children()
    elif fault == "vanish":
        shutil.rmtree(os.environ.get("PLUMBLINE_RUN", "/nowhere"), ignore_errors=True)
    elif fault == "descriptors":
        close_descriptors()
    elif fault == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    elif fault == "fork_trains":
        fork_training()
    elif fault == "exec" and "FAULTY_AGAIN" not in os.environ:
        os.environ["FAULTY_AGAIN"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.argv])
    elif fault == "fill" and "PLUMBLINE_RUN" in os.environ:
        fill_disk(os.path.join(os.environ["PLUMBLINE_RUN"], "filler"))


def fill_disk(path):
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 12))


def main():
    fault = sys.argv[1]
    rank, world = witness.start(distributed="RANK" in os.environ)
    model = TinyModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(STEPS):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        if world > 1:
            dist.all_reduce(loss.detach().clone())
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)
        if step == STEPS // 2:
            meet(fault, rank)
    witness.finish()


if __name__ == "__main__":
    main()
