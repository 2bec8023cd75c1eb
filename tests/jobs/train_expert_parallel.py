"""Expert parallel: tokens go to their expert's rank by all_to_all_single with uneven splits, and come back."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as collective
from torch import nn

import witness
from tiny_model import TinyModel, batch, cross_entropy


class Experts(nn.Module):
    """One expert a rank; routes each token to the expert with the largest score."""

    def __init__(self, width, world):
        super().__init__()
        self.world = world
        self.router = nn.Linear(width, world, bias=False)
        self.expert = nn.Linear(width, width)

    def forward(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weight, choice = self.router(tokens).softmax(-1).max(-1)
        order = choice.argsort(stable=True)
        counts = torch.bincount(choice, minlength=self.world)
        incoming = torch.empty_like(counts)
        dist.all_to_all_single(incoming, counts)
        send, receive = counts.tolist(), incoming.tolist()
        arrived = collective.all_to_all_single(tokens.new_empty(sum(receive), x.shape[-1]), tokens[order], receive, send)
        done = torch.tanh(self.expert(arrived))
        back = collective.all_to_all_single(torch.empty_like(tokens), done, send, receive)
        return (torch.zeros_like(tokens).index_add(0, order, back) * weight[:, None]).view_as(x)


def main():
    rank, world = witness.start()
    model = TinyModel()
    torch.manual_seed(100 + rank)
    for block in model.blocks.values():
        block.up, block.down = nn.Identity(), Experts(32, world)
    shared = [p for name, p in model.named_parameters() if ".expert." not in name]
    for parameter in shared:
        dist.broadcast(parameter.data, 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(5):
        inputs, labels = batch(step, rank, world)
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        for parameter in shared:
            dist.all_reduce(parameter.grad)
            parameter.grad.div_(world)
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)
    witness.finish()


if __name__ == "__main__":
    main()
