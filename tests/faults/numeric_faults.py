"""Faults of the update itself, and of what the optimizer keeps."""

import torch
import torch.distributed as dist

from numeric_case import Case, Entry, matrices_and_vectors


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
        if second and self.fault == "stale lr":
            group["lr"] = self.earlier
        self.earlier = settings["lr"]
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


class SharedCounter(torch.optim.AdamW):
    """Takes the last active parameter's step counter for all, as a fused kernel with one scalar may."""

    @torch.no_grad()
    def step(self, closure=None):
        active = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        own = {p: self.state[p]["step"].clone() for p in active if self.state[p]}
        for p in own:
            self.state[p]["step"].copy_(own.get(active[-1], torch.zeros(())))
        super().step()
        for p, counter in own.items():
            self.state[p]["step"].copy_(counter + 1)


SharedCounter = type("AdamW", (SharedCounter,), {"__module__": "torch.optim.adamw"})


class StateOnce(Case):
    """Something happens to the state before the second step."""

    def __init__(self, change, **settings):
        super().__init__(**settings)
        self.change = change

    def before_step(self, step, model, optimizer):
        if step == 1:
            for state in optimizer.state.values():
                self.change(state)


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
        return self.kind(matrices_and_vectors(model, {"weight_decay": 0.0}, {"weight_decay": 0.1}), **self.settings)


class DecayedBias(Case):
    """The bias of the head slipped into the group of matrices."""

    def optimizer(self, model):
        groups = matrices_and_vectors(model, {"weight_decay": 0.1}, {"weight_decay": 0.0})
        groups[1]["params"] = [p for p in groups[1]["params"] if p is not model.head.bias]
        groups[0]["params"].append(model.head.bias)
        return self.kind(groups, **self.settings)


class RoutedNow(Case):
    """The head's bias has no gradient at the first step: its counter is one behind from then on."""

    def before_step(self, step, model, optimizer):
        if step == 0:
            model.head.bias.grad = None


class LeftOut(torch.optim.AdamW):
    """Steps all parameters but the last."""

    @torch.no_grad()
    def step(self, closure=None):
        last = self.param_groups[-1]["params"][-1]
        grad, last.grad = last.grad, None
        super().step()
        last.grad = grad


LeftOut = type("AdamW", (LeftOut,), {"__module__": "torch.optim.adamw"})


class NormalWeights(Case):
    """Weights of N(0, 0.02) in bfloat16, and their state with them."""

    def model(self):
        torch.manual_seed(self.seed)
        model = torch.nn.Linear(100, 200, bias=False)
        torch.nn.init.normal_(model.weight, std=0.02)
        return model.bfloat16()

    def batch(self, random):
        return torch.randn(16, 100, generator=random).bfloat16()


def normal_weights(lr, check="", **expected):
    """A third of the entries that do not change is a fault, a tenth a remark."""
    case = NormalWeights(lr=lr, weight_decay=0.0)
    return Entry(f"bfloat16, lr {lr:g}", case, check, 0, "of the entries", entries=20_000, **expected)


class NoSum(Case):
    def synchronizes(self, step):
        return step != 1


class OtherRate(Case):
    def before_step(self, step, model, optimizer):
        if step == 1 and dist.get_rank() == 1:
            optimizer.param_groups[0]["lr"] *= 0.5


class Halving(Case):
    def after_step(self, step, model, optimizer):
        optimizer.param_groups[0]["lr"] *= 0.5


UP = "up.weight"
STATE_FAULTS = [
    Entry("learning rate used is twice the group's", Case(broken("lr")), "optimizer", 1, "learning rate 0.02", UP),
    Entry("learning rate used is the step before's", Halving(broken("stale lr")), "optimizer", 1, "0.01, that of step 0", UP),
    Entry("weight decay left out", Case(broken("decay"), weight_decay=0.5), "optimizer", 1, "without weight decay", UP),
    Entry("gradient doubled in the step", Case(broken("gradient")), "optimizer", 1, "by 2 x the gradient", UP),
    Entry("bias correction a step ahead", Case(broken("counter")), "optimizer", 1, "bias correction of its step 3", UP),
    Entry("step counter of one parameter used for all", RoutedNow(SharedCounter), "optimizer", 1,
          "bias correction of its step 1, that of head.bias", UP),
    Entry("last parameter's update undone", Case(broken("undone")), "optimizer", 1, "did not change, though its state did",
          "head.bias"),
    Entry("last parameter never updated", Case(LeftOut), "optimizer", 0, "did not change, though gradient", "head.bias"),
    Entry("parameters pass through bfloat16", Case(broken("rounded")), "optimizer", 1, "holds numbers of bfloat16", UP),
    Entry("exp_avg set to zero", StateOnce(lambda state: state["exp_avg"].zero_()), "optimizer", 1, "exp_avg of zeros", UP),
    Entry("step counter set to zero", StateOnce(lambda state: state["step"].zero_()), "optimizer", 1, "step counter 0", UP),
    Entry("step counter a step ahead", StateOnce(lambda state: state["step"].add_(1)), "optimizer", 1,
          "step counter 2 before the step; step 0 left 1", UP),
    Entry("exp_avg_sq rounded to bfloat16", StateOnce(lambda s: s["exp_avg_sq"].copy_(s["exp_avg_sq"].bfloat16())),
          "optimizer", 1, "exp_avg_sq rounded to bfloat16", UP),
    Entry("state lost", StateLost(), "optimizer", 1, "has lost its state", UP),
    Entry("frozen parameter decays on", Frozen(weight_decay=0.1), "optimizer", 0, "though it requires no gradient",
          "head.bias"),
    Entry("layer detached", Detached(), "optimizer", 0, "gets no gradient: its module ran, and norm was given", UP),
    Entry("weight decay of groups swapped", SwappedDecay(), "optimizer", 0, "weight decay is swapped"),
    Entry("bias in the group with weight decay", DecayedBias(), "optimizer", 0, "is decayed by 0.1", "head.bias"),
    normal_weights(6e-7, "optimizer", lost=0.989),
    normal_weights(1e-5, "optimizer", lost=0.845),
    normal_weights(1e-4, "optimizer", lost=0.121, remark=True),
    normal_weights(1e-3),
    Entry("one step without all_reduce", NoSum(), "replicas", 1, "other gradients on its replicas", "head.bias"),
    Entry("learning rates part", OtherRate(), "replicas", 1, "another learning rate", "head.bias"),
]
