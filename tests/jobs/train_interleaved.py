"""Pipeline parallel, interleaved 1F1B: two stages a rank, of which the first and the last tie their weights."""

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleInterleaved1F1B

import witness
from tiny_model import batch, cross_entropy

VOCABULARY, WIDTH = 256, 16


class Stage(nn.Module):
    def __init__(self, first, last):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH) if first else None
        self.inner = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False) if last else None

    def forward(self, x):
        x = x if self.embedding is None else self.embedding(x)
        x = x + torch.tanh(self.inner(x))
        return x if self.head is None else self.head(x)

    def tied(self):
        return next((each.weight for each in (self.embedding, self.head) if each is not None), None)


def main():
    rank, world = witness.start()
    count = 2 * world
    modules = {i: Stage(i == 0, i == count - 1) for i in range(rank, count, world)}
    stages = [PipelineStage(module, i, count, torch.device("cpu")) for i, module in modules.items()]
    schedule = ScheduleInterleaved1F1B(stages, n_microbatches=4, loss_fn=cross_entropy)
    tied = next(weight for module in modules.values() if (weight := module.tied()) is not None)
    dist.broadcast(tied.data, 0)
    optimizer = torch.optim.AdamW([p for module in modules.values() for p in module.parameters()], lr=1e-3)
    for step in range(4):
        inputs, labels = batch(step, rows=8)
        last = rank == (count - 1) % world
        schedule.step(*((inputs,) if rank == 0 else ()), **({"target": labels} if last else {}))
        dist.all_reduce(tied.grad)
        optimizer.step()
        optimizer.zero_grad()
    witness.finish()


if __name__ == "__main__":
    main()
