"""Distributed data parallel: --optimizer adamw|fused|muon|zero, gradient accumulation, clipping, a schedule."""

import argparse
import contextlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import witness
from tiny_model import TinyModel, batch, cross_entropy


def optimizers(model, name):
    parameters = list(model.parameters())
    if name == "zero":
        from torch.distributed.optim import ZeroRedundancyOptimizer

        return [ZeroRedundancyOptimizer(parameters, optimizer_class=torch.optim.AdamW, lr=1e-3)]
    if name == "muon":
        blocks = [p for n, p in model.named_parameters() if p.ndim == 2 and "blocks" in n]
        rest = [p for n, p in model.named_parameters() if not (p.ndim == 2 and "blocks" in n)]
        return [torch.optim.Muon(blocks, lr=1e-2), torch.optim.AdamW(rest, lr=1e-3)]
    decay = [p for p in parameters if p.ndim > 1]
    plain = [p for p in parameters if p.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    return [torch.optim.AdamW(groups, lr=1e-3, fused=name == "fused" or None)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--optimizer", default="adamw")
    options.add_argument("--steps", type=int, default=6)
    options.add_argument("--accumulate", type=int, default=1)
    options.add_argument("--compile", action="store_true")
    options = options.parse_args()

    rank, world = witness.start()
    model = DistributedDataParallel(TinyModel())
    module = torch.compile(model) if options.compile else model
    stepped = optimizers(model, options.optimizer)
    schedules = [torch.optim.lr_scheduler.CosineAnnealingLR(o, options.steps) for o in stepped]
    for step in range(options.steps):
        for micro in range(options.accumulate):
            inputs, labels = batch(step * options.accumulate + micro, rank, world)
            last = micro == options.accumulate - 1
            with contextlib.nullcontext() if last else model.no_sync():
                loss = cross_entropy(module(inputs), labels) / options.accumulate
                loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer, schedule in zip(stepped, schedules):
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total = loss.detach().clone()
        dist.all_reduce(total)
        witness.loss(total)
    witness.finish()


if __name__ == "__main__":
    main()
