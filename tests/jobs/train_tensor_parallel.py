"""Tensor parallel blocks, embedding and head by DTensor's column-wise and row-wise plans."""

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import witness
from tiny_model import TinyModel, batch, cross_entropy


def main():
    _, world = witness.start()
    mesh = init_device_mesh("cpu", (world,), mesh_dim_names=("tp",))
    model = TinyModel()
    vocabulary = {"embedding": RowwiseParallel(input_layouts=Replicate()), "head": ColwiseParallel(output_layouts=Replicate())}
    parallelize_module(model, mesh, vocabulary)
    for block in model.blocks.values():
        plan = {f"attention.{name}": ColwiseParallel() for name in ("query", "key", "value")}
        plan |= {"attention.out": RowwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
        parallelize_module(block, mesh, plan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    for step in range(5):
        inputs, labels = batch(step)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)
    witness.finish()


if __name__ == "__main__":
    main()
