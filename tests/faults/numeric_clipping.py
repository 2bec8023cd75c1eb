"""Clipping of gradients, with the norm of what it should be taken of and of something else."""

import torch
import torch.distributed as dist
from torch import nn

from numeric_case import Case, Entry


class TwoShards(Case):
    """A weight of two elements over two ranks, whose gradients are 3 and 4."""

    steps = 1

    def model(self):
        return nn.Linear(1, 2, bias=False)

    def wrap(self, model):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        return fully_shard(model, mesh=init_device_mesh("cpu", (2,)))

    def batch(self, random):
        return torch.ones(1, 1)

    def loss(self, model, x):
        return (model(x) * torch.tensor([3.0, 4.0])).sum()

    def synchronizes(self, step):
        return False


class LocalNorm(TwoShards):
    def before_step(self, step, model, optimizer):
        norm = nn.utils.get_total_norm([p.grad.to_local() for p in model.parameters()])
        nn.utils.clip_grads_with_norm_(model.parameters(), 1.0, norm)


class GlobalNorm(TwoShards):
    """The norm that is logged is the local one, clipping is right."""

    def before_step(self, step, model, optimizer):
        self.logged = nn.utils.get_total_norm([p.grad.to_local() for p in model.parameters()])
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def scale_to(parts, norm, max_norm):
    """Clipping by hand."""
    for part in parts:
        part.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))


class ByHand(Case):
    """Each rank has the whole gradient, and so its norm."""

    def before_step(self, step, model, optimizer):
        parts = [p.grad for p in model.parameters()]
        scale_to(parts, torch.stack(torch._foreach_norm(parts)).norm(), 0.01)


class ShardsByHand(TwoShards):
    """Squares of the shards, summed over the ranks."""

    def norm(self, parts):
        square = torch.stack(torch._foreach_norm(parts)).square().sum()
        dist.all_reduce(square)
        return square.sqrt()

    def before_step(self, step, model, optimizer):
        parts = [p.grad.to_local() for p in model.parameters()]
        scale_to(parts, self.norm(parts), 1.0)


class LocalByHand(ShardsByHand):
    """The sum over the ranks was left out."""

    def norm(self, parts):
        return torch.stack(torch._foreach_norm(parts)).norm()


class FlatShards(Case):
    """FSDP1, whose gradients are plain tensors: the plain function takes them for all there is."""

    def wrap(self, model):
        from torch.distributed.fsdp import FullyShardedDataParallel

        return FullyShardedDataParallel(model, use_orig_params=True, device_id=torch.device("cpu"))

    def synchronizes(self, step):
        return False

    def before_step(self, step, model, optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)


class FlatByMethod(FlatShards):
    """The method of the wrapper, which knows that they are shards."""

    def wrap(self, model):
        self.wrapped = super().wrap(model)
        return self.wrapped

    def before_step(self, step, model, optimizer):
        self.wrapped.clip_grad_norm_(0.01)


class FlatByHand(FlatShards):
    def before_step(self, step, model, optimizer):
        parts = [p.grad for p in model.parameters() if p.grad is not None]
        scale_to(parts, torch.stack(torch._foreach_norm(parts)).norm(), 0.01)


class Clipped(Case):
    def before_step(self, step, model, optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)


class ClippedFirst(Case):
    """Each rank clips its own gradient, and what was clipped is averaged."""

    def reduce(self, step, model):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        super().reduce(step, model)


class WithoutRoot(Case):
    def before_step(self, step, model, optimizer):
        norm = nn.utils.get_total_norm([p.grad for p in model.parameters()])
        nn.utils.clip_grads_with_norm_(model.parameters(), 1e-4, norm**2)


class CountedTwice(Case):
    """The squares of replicas are summed over the ranks, as if they were shards."""

    def before_step(self, step, model, optimizer):
        square = nn.utils.get_total_norm([p.grad for p in model.parameters()]) ** 2
        dist.all_reduce(square)
        nn.utils.clip_grads_with_norm_(model.parameters(), 1e-4, square.sqrt())


class OtherMaxNorm(Case):
    def before_step(self, step, model, optimizer):
        nn.utils.clip_grad_norm_(model.parameters(), 0.01 if dist.get_rank() == 0 else 0.02)


A09 = "differs per rank (0.3333 on rank 0, 0.25 on rank 1), though the ranks hold shards of one gradient; global norm 5"
CLIPPING_FAULTS = [
    Entry("FSDP2, clipped by the norm of a rank's shards", LocalNorm(), "optimizer", 0, A09, "weight"),
    Entry("FSDP1, plain clip_grad_norm_", FlatShards(), "optimizer", 0, "clip coefficient that differs per rank", "up.weight"),
    Entry("FSDP2, clipped by hand by the norm of a rank's shards", LocalByHand(), "optimizer", 0, A09, "weight"),
    Entry("FSDP1, clipped by hand by the norm of a rank's shards", FlatByHand(), "optimizer", 0,
          "clip coefficient that differs per rank", "up.weight"),
    Entry("clipped before the gradients are averaged", ClippedFirst(), "optimizer", 0, "before the ranks' gradients are",
          "head.bias"),
    Entry("clipped by the square of the norm", WithoutRoot(), "optimizer", 0, "gradients are clipped by"),
    Entry("clipped by a norm that counts replicas twice", CountedTwice(), "optimizer", 0, "gradients are clipped by"),
    Entry("max_norm differs between ranks", OtherMaxNorm(), "optimizer", 0, "another max_norm by rank"),
]
CLIPPING_CLEAN = [
    Entry("clipping", Clipped()),
    Entry("FSDP2, clipping; the norm that is logged is local", GlobalNorm()),
    Entry("clipped by hand", ByHand()),
    Entry("FSDP2, clipped by hand by the norm over all ranks", ShardsByHand()),
    Entry("FSDP1, clipped by its own method", FlatByMethod()),
]
