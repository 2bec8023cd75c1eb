"""Small trainings, one after the other in one process a rank, each with its own optimizer: some right, some with a fault that no error
tells of. Case i is the optimizer of ordinal i.

    torchrun --nproc-per-node 2 numeric.py
"""

import torch
import torch.distributed as dist
from torch import nn

STEPS = 3


class Model(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.up = nn.Linear(8, width)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.up(x))))


class Case:
    """A training as it should be. Faults override one method each."""

    def __init__(self, kind=torch.optim.AdamW, dtype=torch.float32, sync=True, **settings):
        self.kind, self.dtype, self.sync = kind, dtype, sync
        self.settings = {"lr": 1e-2, **settings}

    def model(self):
        torch.manual_seed(5)
        return Model().to(self.dtype)

    def optimizer(self, model):
        return self.kind(model.parameters(), **self.settings)

    def before_step(self, step, model, optimizer):
        pass

    def train(self):
        model = self.model()
        optimizer = self.optimizer(model)
        random = torch.Generator().manual_seed(11 + dist.get_rank())
        for step in range(STEPS):
            x = torch.randn(16, 8, generator=random).to(self.dtype)
            optimizer.zero_grad()
            model(x).square().mean().backward()
            if self.synchronizes(step):
                for p in model.parameters():
                    if p.grad is not None:
                        dist.all_reduce(p.grad)
                        p.grad /= dist.get_world_size()
            self.before_step(step, model, optimizer)
            optimizer.step()

    def synchronizes(self, step):
        return self.sync


class Faulty(torch.optim.AdamW):
    """AdamW whose update is spoilt in one way from the second step on."""

    fault = ""

    @torch.no_grad()
    def step(self, closure=None):
        params = [p for group in self.param_groups for p in group["params"]]
        second = any(self.state[p] for p in params)
        kept = [p.clone() for p in params]
        group = self.param_groups[0]
        settings = dict(group)
        if second and self.fault == "lr":
            group["lr"] *= 2
        if second and self.fault == "decay":
            group["weight_decay"] = 0.0
        if second and self.fault == "gradient":
            for p in params:
                p.grad.mul_(2)
        if second and self.fault == "counter":
            for p in params:
                self.state[p]["step"] += 1
        super().step()
        if second and self.fault == "gradient":
            for p in params:
                p.grad.div_(2)
        if second and self.fault == "counter":
            for p in params:
                self.state[p]["step"] -= 1
        group.update(lr=settings["lr"], weight_decay=settings["weight_decay"])
        if second and self.fault == "undone":
            params[-1].copy_(kept[-1])
        if second and self.fault == "rounded":
            for p in params:
                p.copy_(p.bfloat16())


def broken(fault):
    # The class goes by the name of what it means to be.
    return type("AdamW", (Faulty,), {"fault": fault, "__module__": "torch.optim.adamw"})


class StateReset(Case):
    def before_step(self, step, model, optimizer):
        if step == 1:
            for state in optimizer.state.values():
                state["exp_avg"].zero_()


class CounterReset(Case):
    def before_step(self, step, model, optimizer):
        if step == 1:
            for state in optimizer.state.values():
                state["step"].zero_()


class StateNarrow(Case):
    def before_step(self, step, model, optimizer):
        if step == 1:
            for state in optimizer.state.values():
                state["exp_avg_sq"].copy_(state["exp_avg_sq"].bfloat16())


class StateLost(Case):
    def before_step(self, step, model, optimizer):
        if step == 1:
            optimizer.state.clear()


class Frozen(Case):
    def before_step(self, step, model, optimizer):
        model.head.bias.requires_grad_(False)


class Detached(Case):
    def model(self):
        model = super().model()
        model.up.register_forward_hook(lambda module, args, output: output.detach())
        return model


class SwappedDecay(Case):
    def optimizer(self, model):
        matrices = [p for p in model.parameters() if p.ndim > 1]
        vectors = [p for p in model.parameters() if p.ndim == 1]
        groups = [{"params": matrices, "weight_decay": 0.0}, {"params": vectors, "weight_decay": 0.1}]
        return self.kind(groups, **self.settings)


class NoSum(Case):
    def synchronizes(self, step):
        return step != 1


class OtherRate(Case):
    def before_step(self, step, model, optimizer):
        if step == 1 and dist.get_rank() == 1:
            optimizer.param_groups[0]["lr"] *= 0.5


class Split(Case):
    def optimizer(self, model):
        matrices = [p for p in model.parameters() if p.ndim > 1]
        vectors = [p for p in model.parameters() if p.ndim == 1]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        return self.kind(groups, **self.settings)


class Clipped(Case):
    def before_step(self, step, model, optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)


class Scheduled(Case):
    def before_step(self, step, model, optimizer):
        optimizer.param_groups[0]["lr"] *= 0.5


class RoutedAway(Case):
    def before_step(self, step, model, optimizer):
        if step % 2 == 1:
            model.head.bias.grad = None


BF16 = torch.bfloat16
O = torch.optim
# Name, case, and of a fault: the check, the step at which it acts (-1: told as a remark), and words of the finding's title.
CASES = [
    ("learning rate used is twice the group's", Case(broken("lr")), "optimizer", 1, "learning rate 0.02"),
    ("weight decay left out", Case(broken("decay"), weight_decay=0.5), "optimizer", 1, "without weight decay"),
    ("gradient doubled in the step", Case(broken("gradient")), "optimizer", 1, "by 2 x the gradient"),
    ("bias correction a step ahead", Case(broken("counter")), "optimizer", 1, "bias correction of its step 3"),
    ("last parameter's update undone", Case(broken("undone")), "optimizer", 1, "did not change, though its state did"),
    ("parameters pass through bfloat16", Case(broken("rounded")), "optimizer", 1, "holds numbers of bfloat16"),
    ("exp_avg set to zero", StateReset(), "optimizer", 1, "exp_avg of zeros"),
    ("step counter set to zero", CounterReset(), "optimizer", 1, "step counter 0"),
    ("exp_avg_sq rounded to bfloat16", StateNarrow(), "optimizer", 1, "exp_avg_sq rounded to bfloat16"),
    ("state lost", StateLost(), "optimizer", 1, "has lost its state"),
    ("frozen parameter decays on", Frozen(weight_decay=0.1), "optimizer", 0, "though it requires no gradient"),
    ("layer detached", Detached(), "optimizer", -1, "up.bias, up.weight is meant to get no gradient"),
    ("weight decay of groups swapped", SwappedDecay(), "optimizer", 0, "weight decay is swapped"),
    ("bfloat16, lr 1e-5", Case(dtype=BF16, lr=1e-5, weight_decay=0.0), "optimizer", 0, "did not change although"),
    ("one step without all_reduce", NoSum(), "replicas", 1, "other gradients on its replicas"),
    ("learning rates part", OtherRate(), "replicas", 1, "another learning rate"),
    ("AdamW", Case(weight_decay=0.1), "", 0, ""),
    ("Adam, amsgrad", Case(O.Adam, amsgrad=True), "", 0, ""),
    ("AdamW, fused", Case(fused=True), "", 0, ""),
    ("AdamW, foreach", Case(foreach=True), "", 0, ""),
    ("SGD, Nesterov", Case(O.SGD, momentum=0.9, nesterov=True), "", 0, ""),
    ("Adagrad", Case(O.Adagrad), "", 0, ""),
    ("RMSprop, centered", Case(O.RMSprop, centered=True, momentum=0.9), "", 0, ""),
    ("NAdam", Case(O.NAdam), "", 0, ""),
    ("RAdam", Case(O.RAdam), "", 0, ""),
    ("Adafactor", Case(O.Adafactor), "", 0, ""),
    ("SGD in bfloat16", Case(O.SGD, dtype=BF16, lr=0.5), "", 0, ""),
    ("decay of matrices alone", Split(), "", 0, ""),
    ("clipping", Clipped(), "", 0, ""),
    ("schedule", Scheduled(), "", 0, ""),
    ("bias without a gradient now and then", RoutedAway(), "", 0, ""),
]


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    for _, case, *_ in CASES:
        case.train()
    dist.destroy_process_group()
