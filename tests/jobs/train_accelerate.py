"""accelerate around a plain loop: two ranks, two accumulation steps, a prepared schedule, clipping, and rows of one length."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

import witness
from tiny_model import TinyModel, batch, cross_entropy

STEPS, ACCUMULATE, ROWS = 4, 2, 4


def main():
    witness.start(distributed=False)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=ACCUMULATE)
    world = accelerator.num_processes
    inputs, labels = batch(0, rows=STEPS * ACCUMULATE * ROWS * world)
    loader = DataLoader(list(zip(inputs, labels)), batch_size=ROWS, shuffle=True)
    model = TinyModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    # A prepared schedule moves once a process at each step of the optimizer.
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS * world)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for x, y in loader:
        with accelerator.accumulate(model):
            loss = cross_entropy(model(x), y)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        witness.loss(loss)
    witness.finish(rank=accelerator.process_index)


if __name__ == "__main__":
    main()
