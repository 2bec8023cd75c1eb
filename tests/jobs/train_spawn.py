"""multiprocessing.spawn: the ranks are children of a script that does not train, and no launcher sets RANK."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing

import witness
from tiny_model import TinyModel, batch, cross_entropy


def train(rank, world, rendezvous):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=world)
    witness.count_steps()
    model = torch.nn.parallel.DistributedDataParallel(TinyModel())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(5):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)
    witness.finish()


if __name__ == "__main__":
    store = os.path.join(os.environ.get("WITNESS_DIR", "."), f"store-{os.getpid()}")
    torch.multiprocessing.spawn(train, args=(2, "file://" + os.path.abspath(store)), nprocs=2)
    sys.exit(0)
