"""One process that does what probes look at, and writes down the tensors themselves: WITNESS_DIR/truth.json."""

import json
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import clip_grad_norm_

import witness

STEPS, MICRO_BATCHES, VOCABULARY, LENGTH = 3, 2, 19, 6
TRUTH = {"micro": [], "clip": [], "grads": [], "evaluated": []}


def soften(logits, temperature):
    return logits / temperature


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        return x + F.gelu(self.up(self.norm(x)))


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.embed, self.position_embed = nn.Embedding(VOCABULARY, width), nn.Embedding(LENGTH, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(2))
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, input_ids, position_ids=None, attention_mask=None):
        x = self.embed(input_ids) + self.position_embed(position_ids)
        if attention_mask is None:
            raise ValueError("no mask")
        for layer in self.layers:
            x = layer(x)
        return soften(self.head(x), temperature=2.0)


@torch.jit.script
def scripted_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits, labels)


def raw(tensor):
    return tensor.detach().contiguous().numpy().tobytes().hex()


def micro_batch(model, number):
    generator = torch.Generator().manual_seed(number)
    ids = torch.randint(VOCABULARY, (2, LENGTH), generator=generator)
    labels = torch.randint(VOCABULARY, (2 * LENGTH,), generator=generator)
    labels[::5] = -100
    positions = torch.arange(LENGTH)
    logits = model(ids, position_ids=positions, attention_mask=torch.ones(2, LENGTH, dtype=torch.bool)).flatten(0, 1)
    # Once through the name that this module imported, once through the class.
    loss = cross_entropy(logits, labels) if number % 2 else nn.CrossEntropyLoss()(logits, labels)
    TRUTH["micro"].append(
        {"ids": raw(ids), "positions": raw(positions), "labels": raw(labels), "logits": raw(logits), "loss": raw(loss)}
    )
    return loss / MICRO_BATCHES


def what_must_stay_as_it_is(model, logits, labels):
    """An exception, a compiled and a scripted loss: none of them may notice the probes."""
    try:
        model(torch.zeros(1, 1, dtype=torch.int64), position_ids=torch.zeros(1, dtype=torch.int64))
    except ValueError as error:
        assert str(error) == "no mask"
    compiled = torch.compile(lambda a, b: F.cross_entropy(a, b) * 2, backend="eager", fullgraph=True)
    with torch.no_grad():
        assert torch.equal(compiled(logits, labels), F.cross_entropy(logits, labels) * 2)
        assert torch.equal(scripted_loss(logits, labels), F.cross_entropy(logits, labels))
        TRUTH["evaluated"].append(raw(F.nll_loss(logits.log_softmax(-1), labels, reduction="none")))


def weighted_losses(logits, labels):
    """What reaches a loss from backward(): factors, hooks, the gradient to begin with; not what a caller asks for."""
    logits = logits.clone().requires_grad_()
    loss = F.cross_entropy(logits, labels, label_smoothing=0.5)
    torch.autograd.grad(loss, logits, retain_graph=True)
    loss.register_hook(lambda gradient: gradient * 3)
    (loss * 0.25).backward()
    F.cross_entropy(logits, labels, reduction="none").backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    loss = F.cross_entropy(logits, labels, reduction="sum")
    loss.register_hook(lambda gradient: gradient * 3)
    loss.backward()


def main():
    witness.start(distributed=False)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(STEPS):
        for micro in range(MICRO_BATCHES):
            loss = micro_batch(model, step * MICRO_BATCHES + micro)
            loss.backward()
        TRUTH["grads"].append({name: raw(p.grad) for name, p in model.named_parameters()})
        # A generator, which can be gone through once.
        total = clip_grad_norm_((p for p in model.parameters()), 0.1)
        TRUTH["clip"].append(float(total))
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)
    generator = torch.Generator().manual_seed(77)
    logits = torch.randn(4, VOCABULARY, generator=generator)
    labels = torch.randint(VOCABULARY, (4,), generator=generator)
    what_must_stay_as_it_is(model, logits, labels)
    weighted_losses(logits, labels)
    with open(os.path.join(os.environ["WITNESS_DIR"], "truth.json"), "w") as out:
        json.dump(TRUTH, out)
    witness.finish()


if __name__ == "__main__":
    main()
