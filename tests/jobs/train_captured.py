"""Trains a tiny model in one of many ways, and keeps its own copies of what each optimizer step starts from and leaves.

    train_captured.py KIND     plain, frozen, closure, accumulate, ddp, fsdp1, fsdp1_flat, fsdp2, tp

COPIES_DIR gets a pickle a rank: {(step, probe, name): (shape, bytes)}. Sharded tensors are copied whole, so that a block
can be compared with its place in the whole.
"""

import os
import pickle
import sys

import torch
import torch.distributed as dist

import witness
from tiny_model import TinyModel, batch, cross_entropy

STEPS = 3
COPIES = {}


def whole(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def copy(step, probe, name, tensor):
    tensor = whole(tensor.detach())
    COPIES[step, probe, name] = (tuple(tensor.shape), tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())


def copy_state(step, when, optimizer, named):
    for name, parameter in named:
        for key, value in optimizer.state.get(parameter, {}).items():
            if torch.is_tensor(value):
                copy(step, f"state.{key}.{when}", name, value)


class Sharded(torch.nn.Module):
    """Odd sizes, so that the ranks' blocks differ, and one that leaves the second rank nothing."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(256, 15)
        self.up, self.down = torch.nn.Linear(15, 7), torch.nn.Linear(7, 15, bias=False)
        self.one = torch.nn.Linear(15, 1)
        self.head = torch.nn.Linear(15, 256)

    def forward(self, x):
        x = self.embedding(x)
        x = x + self.down(torch.tanh(self.up(x)))
        return self.head(x) * self.one(x)


def make(kind):
    """The module to call, the model whose parameters are named, and the optimizers."""
    adamw = torch.optim.AdamW
    if kind == "frozen":
        model = TinyModel(width=256, layers=1)
        model.head.weight = model.embedding.weight  # tied
        for parameter in model.blocks["0"].attention.parameters():
            parameter.requires_grad_(False)
        groups = [{"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": 0.1}]
        groups.append({"params": [p for p in model.parameters() if p.ndim <= 1], "lr": torch.tensor(0.01)})
        return model, model, [adamw(groups, lr=1e-3, amsgrad=True)]
    if kind == "closure":
        model = TinyModel()
        return model, model, [torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)]
    if kind == "ddp":
        model = TinyModel().to(torch.bfloat16)
        wrapped = torch.nn.parallel.DistributedDataParallel(model)
        matrices = [p for p in model.parameters() if p.ndim == 2]
        rest = [p for p in model.parameters() if p.ndim != 2]
        return wrapped, model, [torch.optim.SGD(matrices, lr=0.1), torch.optim.Adam(rest, lr=1e-3)]
    if kind in ("fsdp1", "fsdp1_flat"):
        from torch.distributed.fsdp import FullyShardedDataParallel

        model = Sharded()
        model.up = FullyShardedDataParallel(model.up, use_orig_params=kind == "fsdp1", device_id=torch.device("cpu"))
        model = FullyShardedDataParallel(model, use_orig_params=kind == "fsdp1", device_id=torch.device("cpu"))
        return model, model, [adamw(model.parameters(), lr=1e-3)]
    if kind == "fsdp2":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        model, mesh = Sharded(), init_device_mesh("cpu", (2,))
        fully_shard(model.up, mesh=mesh)
        fully_shard(model, mesh=mesh)
        return model, model, [adamw(model.parameters(), lr=1e-3)]
    if kind == "tp":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Replicate
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

        model, mesh = TinyModel(), init_device_mesh("cpu", (2,))
        # The gradient of the embedding is whole on each rank, of which each holds half of the vocabulary.
        parallelize_module(model, mesh, {"embedding": RowwiseParallel(input_layouts=Replicate())})
        for block in model.blocks.values():
            parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
        return model, model, [adamw(model.parameters(), lr=1e-3, foreach=False)]
    model = TinyModel()
    return model, model, [adamw(model.parameters(), lr=1e-3)]


def full_parameters(model):
    """Of an FSDP1 model: whole parameters and their gradients by name."""
    from torch.distributed.fsdp import FullyShardedDataParallel

    with FullyShardedDataParallel.summon_full_params(model, writeback=False):
        return [(n.replace("_fsdp_wrapped_module.", ""), p.detach().clone()) for n, p in model.named_parameters()]


def named(kind, model):
    return full_parameters(model) if kind.startswith("fsdp1") else list(model.named_parameters())


def train(kind, rank, world):
    module, model, optimizers = make(kind)
    for step in range(STEPS):
        micros = 2 if kind == "accumulate" else 1

        def backward():
            for micro in range(micros):
                inputs, labels = batch(step * micros + micro, 0 if kind == "tp" else rank, world)
                loss = cross_entropy(module(inputs), labels) / micros
                loss.backward()
            return loss

        if kind != "closure":
            loss = backward()
        for name, parameter in named(kind, model):
            copy(step, "param.before", name, parameter)
            if kind != "closure" and parameter.grad is not None:
                copy(step, "grad", name, parameter.grad)
        # FSDP1 keeps state for its shards only, under names of its own.
        stateful = [] if kind.startswith("fsdp1") else optimizers
        for optimizer in stateful:
            copy_state(step, "before", optimizer, model.named_parameters())
        for optimizer in optimizers:
            if kind == "closure":
                loss = optimizer.step(backward)
                for name, parameter in model.named_parameters():
                    copy(step, "grad", name, parameter.grad)
            else:
                optimizer.step()
        for name, parameter in named(kind, model):
            copy(step, "param.after", name, parameter)
        for optimizer in stateful:
            copy_state(step, "after", optimizer, model.named_parameters())
        for optimizer in optimizers:
            optimizer.zero_grad()
        witness.loss(loss)


def main():
    kind = sys.argv[1]
    alone = kind in ("plain", "frozen", "closure", "accumulate")
    rank, world = witness.start(distributed=not alone)
    train(kind, rank, world)
    with open(os.path.join(os.environ["COPIES_DIR"], f"{rank}.pickle"), "wb") as out:
        pickle.dump(COPIES, out)
    witness.finish()


if __name__ == "__main__":
    main()
