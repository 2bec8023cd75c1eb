"""Trains in three parts on one gloo rank; between them the level of recording is switched off and on again.

Each part is a range of its own, opens one more, and calls as many collectives as it takes steps. A profiler watches the
part that is not recorded.
"""

import os
import time

import torch
import torch.distributed as dist
from torch.profiler import record_function

import witness
from tiny_model import TinyModel, batch, cross_entropy

STEPS = 3  # of a part
LATEST = 1.6  # seconds after which the recorder has read its control file: it does once a second


def switch(level):
    directory = os.environ.get("PLUMBLINE_RUN")
    if directory is None:
        return
    control = os.path.join(directory, "control")
    with open(control + ".new", "w") as file:
        file.write(f'level = "{level}"\n')
    os.replace(control + ".new", control)
    time.sleep(LATEST)


def main():
    rank, world = witness.start()
    model = TinyModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def train(part):
        for step in range(STEPS):
            with record_function(f"part:{part}"):
                inputs, labels = batch(step, rank, world)
                loss = cross_entropy(model(inputs), labels)
                loss.backward()
                total = loss.detach().clone()
                dist.all_reduce(total)
                optimizer.step()
                optimizer.zero_grad()
                witness.loss(total)

    train("first")
    switch("off")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
        train("unrecorded")
    names = [event.name for event in profile.events()]
    for name in ("gloo:all_reduce", "part:unrecorded"):
        witness.loss(names.count(name))
    switch("watch")
    train("last")
    witness.finish()


if __name__ == "__main__":
    main()
