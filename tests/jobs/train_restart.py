"""torchrun --max-restarts 1: in the first attempt rank 1 kills itself in the middle of its third step, before the update; the
second attempt trains on."""

import itertools
import os
import signal

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import witness
from tiny_model import TinyModel, batch, cross_entropy


def main():
    rank, world = witness.start()
    first_attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT") == "0"
    model = DistributedDataParallel(TinyModel())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    if first_attempt and rank == 1:
        begun = itertools.count()
        optimizer.register_step_pre_hook(lambda *_: os.kill(os.getpid(), signal.SIGKILL) if next(begun) == 2 else None)
    for step in range(4):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        witness.loss(total)
    witness.finish()


if __name__ == "__main__":
    main()
