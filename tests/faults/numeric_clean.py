"""Trainings without a fault, of every kind that might look like one."""

import torch
from torch import nn

from numeric_case import BF16, Case, Entry, Model, matrices_and_vectors

O = torch.optim


class Split(Case):
    def optimizer(self, model):
        return self.kind(matrices_and_vectors(model, {"weight_decay": 0.1}, {"weight_decay": 0.0}), **self.settings)


class RoutedAway(Case):
    def before_step(self, step, model, optimizer):
        if step % 2 == 1:
            model.head.bias.grad = None


class Lion(O.Optimizer):
    """Sign of an interpolated momentum (Chen et al., 2023)."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                average = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.add_((average * beta1 + p.grad * (1 - beta1)).sign(), alpha=-group["lr"])
                average.mul_(beta2).add_(p.grad, alpha=1 - beta2)


class Muon(Case):
    """Matrices by Muon, the rest by AdamW."""

    optimizers = 2

    def optimizer(self, model):
        matrices, vectors = matrices_and_vectors(model, {}, {})
        self.second = O.AdamW([vectors], lr=1e-2)
        return O.Muon(matrices["params"], lr=1e-2)

    def take_step(self, optimizer):
        optimizer.step()
        self.second.step()

    def clear(self, step, optimizer):
        optimizer.zero_grad()
        self.second.zero_grad()


class Accumulated(Case):
    micro_batches = 4


class Replicated(Case):
    """DistributedDataParallel, which keeps its last micro-batch alone for the reduction."""

    micro_batches = 2

    def wrap(self, model):
        return nn.parallel.DistributedDataParallel(model)

    def synchronizes(self, step):
        return False


class Autocast(Case):
    """Operators in bfloat16 or float16, parameters in float32; a scaler for the latter."""

    def __init__(self, narrow, **settings):
        super().__init__(**settings)
        self.narrow = narrow

    def prepare(self, model, optimizer):
        self.scaler = torch.amp.GradScaler("cpu", enabled=self.narrow == torch.float16, init_scale=1024.0)

    def loss(self, model, x):
        with torch.autocast("cpu", dtype=self.narrow):
            return self.scaler.scale(super().loss(model, x).float())

    def before_step(self, step, model, optimizer):
        self.scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 0.05)

    def take_step(self, optimizer):
        self.scaler.step(optimizer)
        self.scaler.update()


class Masters(Case):
    """A model in bfloat16; the optimizer steps float32 copies, which are rounded into it."""

    def optimizer(self, model):
        self.model_parameters = list(model.parameters())
        self.masters = [p.detach().float().requires_grad_() for p in self.model_parameters]
        return self.kind(self.masters, **self.settings)

    def clear(self, step, optimizer):
        optimizer.zero_grad()
        for p in self.model_parameters:
            p.grad = None

    def before_step(self, step, model, optimizer):
        for master, p in zip(self.masters, self.model_parameters):
            master.grad = p.grad.float()

    @torch.no_grad()
    def after_step(self, step, model, optimizer):
        for master, p in zip(self.masters, self.model_parameters):
            p.copy_(master)


class LowRank(nn.Module):
    """A frozen linear layer, and beside it two thin ones; the second begins with zeros."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, 2, bias=False)
        self.up = nn.Linear(2, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Lora(Case):
    def model(self):
        model = super().model().requires_grad_(False)
        model.up, model.head = LowRank(model.up), LowRank(model.head)
        return model

    def optimizer(self, model):
        return self.kind([p for p in model.parameters() if p.requires_grad], **self.settings)


class FrozenLayer(Case):
    """Handed to the optimizer whole, its first layer frozen."""

    def model(self):
        model = super().model()
        model.up.requires_grad_(False)
        return model


class Tied(Case):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(32, 8)
            self.head = nn.Linear(8, 32, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, x):
            return self.head(self.embedding(x))

    def model(self):
        torch.manual_seed(self.seed)
        return self.Model()

    def batch(self, random):
        return torch.randint(0, 32, (16,), generator=random)


class Unused(Case):
    """A layer that is never called, and one whose result nobody uses."""

    class Model(Model):
        def __init__(self):
            super().__init__()
            self.spare = nn.Linear(4, 4)
            self.pooler = nn.Linear(24, 4)

        def forward(self, x):
            hidden = torch.relu(self.norm(self.up(x)))
            self.pooler(hidden)
            return self.head(hidden)

    def model(self):
        torch.manual_seed(self.seed)
        return self.Model()


class Sharded(Case):
    """FSDP2; clipping of DTensors."""

    def wrap(self, model):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        return fully_shard(model, mesh=init_device_mesh("cpu", (2,)))

    def synchronizes(self, step):
        return False

    def before_step(self, step, model, optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)


CLEAN = [
    Entry("AdamW", Case(weight_decay=0.1)),
    Entry("Adam, amsgrad", Case(O.Adam, amsgrad=True)),
    Entry("AdamW, fused", Case(fused=True)),
    Entry("AdamW, foreach", Case(foreach=True)),
    Entry("Adam, settings that are tensors", Case(O.Adam, lr=torch.tensor(1e-2), betas=(torch.tensor(0.9), torch.tensor(0.99)))),
    Entry("SGD, Nesterov", Case(O.SGD, momentum=0.9, nesterov=True)),
    Entry("Adagrad", Case(O.Adagrad)),
    Entry("RMSprop, centered", Case(O.RMSprop, centered=True, momentum=0.9)),
    Entry("NAdam", Case(O.NAdam)),
    Entry("RAdam", Case(O.RAdam)),
    Entry("Adafactor", Case(O.Adafactor)),
    Entry("Lion", Case(Lion, lr=1e-3, weight_decay=0.1)),
    Entry("Muon, and AdamW for vectors", Muon()),
    Entry("SGD in bfloat16", Case(O.SGD, dtype=BF16, lr=0.5)),
    Entry("decay of matrices alone", Split()),
    Entry("bias without a gradient now and then", RoutedAway()),
    Entry("four micro-batches a step", Accumulated()),
    Entry("DistributedDataParallel, two micro-batches", Replicated()),
    Entry("autocast in bfloat16, clipping", Autocast(BF16)),
    Entry("autocast in float16, GradScaler, clipping", Autocast(torch.float16)),
    Entry("bfloat16 with float32 master weights", Masters(dtype=BF16)),
    Entry("low-rank adapters", Lora()),
    Entry("frozen layer", FrozenLayer()),
    Entry("tied weights", Tied()),
    Entry("unused layers", Unused()),
    Entry("FSDP2, clipping", Sharded()),
]
