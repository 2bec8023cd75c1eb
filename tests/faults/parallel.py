"""Small trainings over two ranks, one after the other, whose ranks hold copies or parts of a model as plain tensors: what no
wrapper declares. Case i is the optimizer of ordinal i.

    torchrun --nproc-per-node 2 parallel.py
"""

import torch
import torch.distributed as dist
from torch import nn

STEPS = 4
WIDTH = 12


def mean_over_ranks(parameter):
    dist.all_reduce(parameter.grad)
    parameter.grad /= dist.get_world_size()


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Copies:
    """Data parallelism by hand: the same model on every rank, gradients averaged."""

    def __init__(self, kind=torch.optim.SGD, seed_by_rank=False, unsummed=(), lr=0.05):
        self.kind, self.seed_by_rank, self.unsummed, self.lr = kind, seed_by_rank, unsummed, lr

    def build(self, rank):
        torch.manual_seed(rank if self.seed_by_rank else 3)
        return nn.Sequential(nn.Linear(8, WIDTH), nn.Tanh(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4))

    def loss(self, model, step, rank):
        return model(drawn(100 * step + rank, 16, 8)).square().mean()

    def reduce(self, step, name, parameter):
        if name not in self.unsummed:
            mean_over_ranks(parameter)

    def train(self):
        rank = dist.get_rank()
        model = self.build(rank)
        optimizer = self.kind(model.parameters(), lr=self.lr)
        for step in range(STEPS):
            optimizer.zero_grad()
            self.loss(model, step, rank).backward()
            for name, parameter in model.named_parameters():
                self.reduce(step, name, parameter)
            optimizer.step()


class Heads(nn.Module):
    """Attention's shape: norms over a head, between matrices of which each rank has the rows or columns of its heads."""

    def __init__(self, rank, wide, same_seed):
        super().__init__()
        torch.manual_seed(3)
        self.input_norm = nn.LayerNorm(8)
        self.embed = nn.Linear(8, 8, bias=False)
        torch.manual_seed(3 if same_seed else 10 + rank)
        self.attn = nn.Module()
        self.attn.wq = nn.Linear(8, WIDTH, bias=False)
        self.attn.q_norm = nn.LayerNorm(WIDTH if wide else 4)
        self.attn.wo = nn.Linear(WIDTH, 8, bias=False)

    def forward(self, x):
        q = self.attn.wq(self.input_norm(self.embed(x)))
        q = self.attn.q_norm(q if self.attn.q_norm.normalized_shape[0] == WIDTH else q.view(16, -1, 4))
        return self.attn.wo(torch.tanh(q.reshape(16, WIDTH)))


class Shards(Copies):
    """Tensor parallelism by hand: each rank has its heads, all see the same rows. What every rank has whole is summed."""

    def __init__(self, wide=False, same_seed=False, whole=("input_norm", "embed", "q_norm"), **settings):
        super().__init__(**settings)
        self.wide, self.same_seed, self.whole = wide, same_seed, whole

    def build(self, rank):
        return Heads(rank, self.wide, self.same_seed)

    def loss(self, model, step, rank):
        return (model(drawn(100 * step, 16, 8)) * drawn(7 + rank, 16, 8)).square().mean()

    def reduce(self, step, name, parameter):
        if any(part in name for part in self.whole):
            dist.all_reduce(parameter.grad)


class Experts(Copies):
    """Expert parallelism: the router and the head are everywhere, each rank has an expert of its own."""

    def __init__(self, same_seed, **settings):
        super().__init__(**settings)
        self.same_seed = same_seed

    def build(self, rank):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(8, WIDTH), nn.Module(), nn.Linear(WIDTH, 4))
        torch.manual_seed(3 if self.same_seed else 10 + rank)
        model[1] = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.LayerNorm(WIDTH))
        return model

    def reduce(self, step, name, parameter):
        if not name.startswith("1."):
            mean_over_ranks(parameter)


class Routed(Copies):
    """A model in which a template says that the gate is a copy."""

    def build(self, rank):
        torch.manual_seed(3)
        model = nn.Module()
        model.gate, model.up, model.head = nn.Linear(8, 8, bias=False), nn.Linear(8, WIDTH), nn.Linear(WIDTH, 4)
        model.forward = lambda x: model.head(torch.tanh(model.up(x * torch.sigmoid(model.gate(x)))))
        return model

    def loss(self, model, step, rank):
        return model.forward(drawn(100 * step + rank, 16, 8)).square().mean()


class Once(Copies):
    """A parameter is left out of the reduction in one step, as by a hook that did not fire."""

    def reduce(self, step, name, parameter):
        if step != 2 or name != "3.bias":
            mean_over_ranks(parameter)


class Apart(Copies):
    """One rank changes a parameter between steps."""

    def loss(self, model, step, rank):
        if step == 2 and rank == 1:
            with torch.no_grad():
                model[0].weight[0, 0] += 1e-3
        return super().loss(model, step, rank)


ADAM = torch.optim.AdamW
# Name, training, and of a fault: the check, the step at which it acts, and words of the finding's title.
CASES = [
    ("copies drawn apart, one gradient", Copies(seed_by_rank=True), "replicas", 0, "they began apart"),
    ("copies drawn apart, AdamW", Copies(ADAM, seed_by_rank=True), "replicas", 0, "they began apart"),
    ("norm over a head that nobody sums", Shards(whole=("input_norm", "embed")), "replicas", 0,
     "attn.q_norm.bias has other gradients on its replicas"),
    ("gate that nobody sums, by the template", Routed(unsummed=("gate.weight",)), "replicas", 0,
     "gate.weight has other gradients on its replicas"),
    ("bias left out of one step's sum", Once(), "replicas", 2, "3.bias has other gradients on its replicas"),
    ("one rank changes a weight", Apart(), "replicas", 2, "0.weight differs between its replicas since the step before"),
    ("copies, gradients averaged by hand", Copies(), "", 0, ""),
    ("shards beside copies, sums of what is whole", Shards(), "", 0, ""),
    ("shards drawn from one seed", Shards(same_seed=True), "", 0, ""),
    ("norm over all heads, divided with them", Shards(wide=True, whole=("input_norm", "embed")), "", 0, ""),
    ("experts drawn from one seed", Experts(same_seed=True), "", 0, ""),
    ("experts drawn apart", Experts(same_seed=False), "", 0, ""),
    ("gate that is summed, by the template", Routed(), "", 0, ""),
]  # fmt: skip


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    for _, case, *_ in CASES:
        case.train()
    dist.destroy_process_group()
