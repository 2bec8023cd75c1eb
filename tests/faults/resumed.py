"""A training that is not interrupted and saves on its way, or one that goes on from such a checkpoint, right or wrong.

    resumed.py whole FOLDER                saves after 8 steps and after 1000
    resumed.py WAY FOLDER                  goes on after step 8, or after step 1000 where WAY says so; see WAYS
"""

import os
import sys

import torch
from torch import nn

SAVED = (8, 1000)
MORE = 3  # steps after the last save, and of a resumed training
ROWS, LENGTH, BATCH = 16000, 6, 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(32, 16)
        self.up = nn.Linear(16, 24)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(24, 32)

    def forward(self, input_ids):
        return self.head(self.dropout(torch.relu(self.up(self.embed(input_ids)))))


class Training:
    """AdamW with another beta2 for each layer; an epoch's rows in an order drawn at its beginning."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.model = Model()
        layers = {0.999: self.model.embed, 0.98: self.model.up, 0.95: self.model.head}
        groups = [{"params": list(layer.parameters()), "betas": (0.9, beta)} for beta, layer in layers.items()]
        self.optimizer = torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.0)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 0.9999**step)
        self.rows = torch.randint(0, 32, (ROWS, LENGTH + 1), generator=torch.Generator().manual_seed(1))
        self.order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(2))
        self.rows_seen = 0

    def step(self):
        batch = self.rows[self.order[self.rows_seen : self.rows_seen + BATCH]]
        self.rows_seen += BATCH
        logits = self.model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.schedule.step()

    def save(self, path):
        states = {"model": self.model, "optimizer": self.optimizer, "scheduler": self.schedule}
        state = {name: each.state_dict() for name, each in states.items()}
        torch.save({**state, "rows_seen": self.rows_seen, "rng": torch.get_rng_state()}, path)

    def load(self, path, leave_out):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        if leave_out == "moments":
            # Like a template of the load that is taken from a fresh optimizer.
            state["optimizer"]["state"] = {}
        if leave_out == "step":
            for each in state["optimizer"]["state"].values():
                each["step"].zero_()
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["scheduler"])
        self.rows_seen = 0 if leave_out == "rows" else state["rows_seen"]
        if leave_out != "rng":
            torch.set_rng_state(state["rng"])


# What is left out, and the step of the checkpoint.
WAYS = {
    "right": ("", 8),
    "moments": ("moments", 8),
    "step": ("step", 1000),
    "rng": ("rng", 8),
    "rows": ("rows", 8),
}


def main():
    way, folder = sys.argv[1:]
    torch.set_num_threads(1)
    training = Training(seed=1 if way == "whole" else 2)
    paths = {step: os.path.join(folder, f"step{step}.pt") for step in SAVED}
    if way == "whole":
        for step in range(SAVED[-1] + MORE):
            if step in paths:
                training.save(paths[step])
            training.step()
        return
    leave_out, step = WAYS[way]
    training.load(paths[step], leave_out)
    for _ in range(MORE):
        training.step()


if __name__ == "__main__":
    main()
