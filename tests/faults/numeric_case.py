"""A small training on two ranks as it should be; cases of numeric_faults.py and numeric_clean.py override a method each."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

STEPS = 3
BF16 = torch.bfloat16


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.up = nn.Linear(8, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.up(x))))


class Case:
    optimizers = 1  # that step, counted in the order of their first steps
    steps = STEPS
    micro_batches = 1
    seed = 5

    def __init__(self, kind=torch.optim.AdamW, dtype=torch.float32, sync=True, **settings):
        self.kind, self.dtype, self.sync = kind, dtype, sync
        self.settings = {"lr": 1e-2, **settings}

    def model(self):
        torch.manual_seed(self.seed)
        return Model().to(self.dtype)

    def wrap(self, model):
        return model

    def optimizer(self, model):
        return self.kind(model.parameters(), **self.settings)

    def prepare(self, model, optimizer):
        pass

    def batch(self, random):
        return torch.randn(16, 8, generator=random).to(self.dtype)

    def loss(self, model, x):
        return model(x).square().mean() / self.micro_batches

    def backward(self, loss):
        loss.backward()

    def clear(self, step, optimizer):
        optimizer.zero_grad()

    def before_step(self, step, model, optimizer):
        pass

    def take_step(self, optimizer):
        optimizer.step()

    def after_step(self, step, model, optimizer):
        pass

    def train(self):
        model = self.model()
        wrapped = self.wrap(model)
        optimizer = self.optimizer(model)
        self.prepare(model, optimizer)
        random = torch.Generator().manual_seed(11 + dist.get_rank())
        for step in range(self.steps):
            self.clear(step, optimizer)
            for _ in range(self.micro_batches):
                self.backward(self.loss(wrapped, self.batch(random)))
            self.reduce(step, model)
            self.before_step(step, model, optimizer)
            self.take_step(optimizer)
            self.after_step(step, model, optimizer)

    def reduce(self, step, model):
        if self.synchronizes(step):
            average_gradients(model)

    def synchronizes(self, step):
        return self.sync


def average_gradients(model):
    for p in model.parameters():
        if p.grad is not None:
            dist.all_reduce(p.grad)
            p.grad /= dist.get_world_size()


def matrices_and_vectors(model, of_matrices, of_vectors):
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim == 1]
    return [{"params": matrices, **of_matrices}, {"params": vectors, **of_vectors}]


@dataclass
class Entry:
    name: str
    case: Case
    check: str = ""  # that must find it; empty: none may find anything
    step: int = 0  # at which the fault acts
    words: str = ""  # of the finding's title
    tensor: str = ""  # that is named first; empty: none is
    ranks: tuple = (0, 1)
    remark: bool = False  # told beside the findings, and fails nothing
    lost: float = 0  # of a finding about lost updates: their share
    entries: int = 0  # of how many entries
