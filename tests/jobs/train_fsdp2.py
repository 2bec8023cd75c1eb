"""FSDP2: fully_shard per block and for the whole, clipping on DTensors."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import witness
from tiny_model import TinyModel, batch, cross_entropy


def main():
    rank, world = witness.start()
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("dp",))
    model = TinyModel()
    for block in model.blocks.values():
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(5):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        witness.loss(total)
    witness.finish()


if __name__ == "__main__":
    main()
