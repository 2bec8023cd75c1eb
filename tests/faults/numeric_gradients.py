"""What happens to a gradient between backward() and the step, and to a parameter after it."""

import torch
import torch.distributed as dist

from numeric_case import BF16, Case, Entry, average_gradients
from numeric_clean import Masters, Replicated, Sharded


class SummedTwice(Case):
    """Two calls of all_reduce, one division."""

    def reduce(self, step, model):
        for p in model.parameters():
            dist.all_reduce(p.grad)
        average_gradients(model)


class SummedAgain(Replicated):
    """DistributedDataParallel has averaged, and a loop over the parameters sums once more."""

    def reduce(self, step, model):
        for p in model.parameters():
            dist.all_reduce(p.grad)


class AddedTwice(Replicated):
    """A main gradient that a hook fills, added to .grad, which holds the same."""

    def before_step(self, step, model, optimizer):
        for p in model.parameters():
            p.grad += p.grad.clone()


class NotCleared(Case):
    def clear(self, step, optimizer):
        pass


class Cleared(Case):
    """To zeros, not to None."""

    def clear(self, step, optimizer):
        optimizer.zero_grad(set_to_none=False)


class Summed(Case):
    """Losses divided by what all ranks have, gradients summed."""

    def loss(self, model, x):
        return super().loss(model, x) / dist.get_world_size()

    def reduce(self, step, model):
        for p in model.parameters():
            dist.all_reduce(p.grad)


class NotCopied(Masters):
    def after_step(self, step, model, optimizer):
        pass


class Penalty(Case):
    """A backward of a second loss, with gradients of gradients."""

    def loss(self, model, x):
        x.requires_grad_()
        (slope,) = torch.autograd.grad(model(x).square().mean(), x, create_graph=True)
        return super().loss(model, x) + slope.square().mean()


class SeedsApart(Sharded):
    """Replicas of shards, whose models were drawn with other seeds, and nothing broadcasts."""

    def model(self):
        self.seed = 5 + dist.get_rank()
        return super().model()

    def wrap(self, model):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (2, 1), mesh_dim_names=("replicate", "shard"))
        return fully_shard(model, mesh=mesh)


class UnsyncedNorm(Case):
    """A norm's copies on ranks that each see their half of the sequence: nothing sums its gradient."""

    def reduce(self, step, model):
        for name, p in model.named_parameters():
            if not name.startswith("norm"):
                dist.all_reduce(p.grad)
                p.grad /= dist.get_world_size()


TWICE = "gets 2.00 x the mean over the world of 2 as its gradient: reduced twice"
GRADIENT_FAULTS = [
    Entry("all_reduce called twice", SummedTwice(), "optimizer", 0, TWICE, "head.bias"),
    Entry("averaged by DistributedDataParallel, then summed", SummedAgain(), "optimizer", 0, TWICE, "head.bias"),
    Entry("accumulated twice", AddedTwice(), "optimizer", 0, "gets 2.00 x the gradient that backward() left", "head.bias"),
    Entry("gradients not cleared", NotCleared(), "optimizer", 1, "still has the gradient of step 0", "head.bias", (0, 1)),
    Entry("master weights not copied back", NotCopied(dtype=BF16), "optimizer", 1, "it is not copied back", "head.bias"),
    Entry("replicas drawn with other seeds", SeedsApart(), "replicas", 0, "they began apart", "head.bias"),
    Entry("norm's gradient not summed", UnsyncedNorm(), "replicas", 0, "other gradients on its replicas", "norm.bias"),
]
GRADIENT_CLEAN = [
    Entry("gradients cleared to zeros", Cleared()),
    Entry("sum over ranks of losses divided by them", Summed()),
    Entry("penalty on the gradient", Penalty()),
]
