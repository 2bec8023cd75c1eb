"""An ordinary DDP script. With DEMO_FAULT=1 rank 1 leaves the training loop early and never joins the next all_reduce."""

import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS = 20


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 10)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    generator = torch.Generator().manual_seed(rank)
    for step in range(STEPS):
        if os.environ.get("DEMO_FAULT") and rank == 1 and step == 12:
            evaluate()
        inputs = torch.randn(64, 256, generator=generator)
        labels = inputs[:, :10].argmax(1)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 5 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


def evaluate():
    """An evaluation that only this rank believes to be due."""
    with torch.profiler.record_function("evaluate"):
        time.sleep(3600)


if __name__ == "__main__":
    main()
