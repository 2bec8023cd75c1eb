"""Pipeline parallel, 1F1B, one stage a rank: sends and receives, with different counts on each rank."""

import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import witness
from tiny_model import TinyModel, batch, cross_entropy


def main():
    rank, world = witness.start(profile_c10d=True)
    torch.manual_seed(0)
    stage_module = TinyModel(layers=world)
    for name in list(stage_module.blocks):
        if int(name) != rank:
            del stage_module.blocks[name]
    first, last = rank == 0, rank == world - 1
    if first:
        witness.follow_batches(stage_module.embedding)
    else:
        stage_module.embedding = None
    if not last:
        stage_module.head = None
    stage = PipelineStage(stage_module, rank, world, torch.device("cpu"))
    schedule = Schedule1F1B(stage, n_microbatches=4, loss_fn=cross_entropy)
    optimizer = torch.optim.AdamW(stage_module.parameters(), lr=1e-3)
    for step in range(5):
        inputs, labels = batch(step, rows=8)
        losses = []
        keywords = {"target": labels, "losses": losses} if last else {}
        schedule.step(*((inputs,) if first else ()), **keywords)
        optimizer.step()
        optimizer.zero_grad()
        total = torch.stack([loss.detach() for loss in losses]).mean() if losses else torch.zeros(())
        dist.all_reduce(total, dist.ReduceOp.MAX)
        witness.loss(total)
    witness.finish()


if __name__ == "__main__":
    main()
