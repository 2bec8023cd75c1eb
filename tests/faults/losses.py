"""One training step for each of LOSSES: ways in which a job makes its loss, under DistributedDataParallel or past it."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

IGNORED, CLASSES, LENGTH = -100, 32, 16


class Model(nn.Module):
    """With a second head, as for the token after the next."""

    def __init__(self):
        super().__init__()
        self.embed, self.head, self.second = nn.Embedding(CLASSES, 8), nn.Linear(8, CLASSES), nn.Linear(8, CLASSES)

    def forward(self, ids):
        hidden = self.embed(ids).tanh()
        return self.head(hidden), self.second(hidden)


class Step:
    """What a way of making the loss has at hand. Ranks and rows have different numbers of supervised tokens."""

    def __init__(self, number, model, wrapped):
        self.random = torch.Generator().manual_seed(100 * number + dist.get_rank())
        self.model, self.wrapped, self.world = model, wrapped, dist.get_world_size()

    def batch(self, rows=2, length=LENGTH, even=False):
        ids = torch.randint(1, CLASSES, (rows, length), generator=self.random)
        labels = F.pad(ids[:, 1:], (0, 1), value=IGNORED)
        if not even:
            labels[:, : 2 + 3 * dist.get_rank()] = IGNORED
            labels[0, : length // 2] = IGNORED
        return ids, labels

    def logits(self, ids, module=None):
        logits, second = (module or self.wrapped)(ids)
        return logits + 0 * second.sum()

    def of_all_ranks(self, labels):
        count = (labels != IGNORED).sum().float()
        dist.all_reduce(count)
        return count

    def sum_gradients(self):
        for parameter in self.model.parameters():
            dist.all_reduce(parameter.grad)


def cross_entropy(logits, labels, **settings):
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), **settings)


def token_mean(step, ids, labels, **settings):
    """DistributedDataParallel divides by the number of ranks."""
    loss = cross_entropy(step.logits(ids), labels, reduction="sum", **settings)
    return loss * step.world / step.of_all_ranks(labels)


def hooked(step):
    ids, labels = step.batch()
    loss = cross_entropy(step.logits(ids), labels, reduction="sum")
    denominator = step.of_all_ranks(labels)
    loss.register_hook(lambda gradient: gradient * step.world / denominator)
    loss.backward()


def given(step):
    ids, labels = step.batch()
    loss = cross_entropy(step.logits(ids), labels, reduction="sum")
    loss.backward(gradient=step.world / step.of_all_ranks(labels))


def with_other_terms(step):
    ids, labels = step.batch()
    logits = step.logits(ids)
    z = logits.logsumexp(-1).square().mean()
    balance = logits.softmax(-1).mean((0, 1)).square().sum()
    loss = cross_entropy(logits, labels, reduction="sum") * step.world / step.of_all_ranks(labels)
    (loss + 1e-3 * z + 0.1 * balance).backward()


def masked(step):
    ids, labels = step.batch()
    losses = cross_entropy(step.logits(ids), labels.clamp(min=0), reduction="none")
    ((losses * (labels != IGNORED).flatten()).sum() * step.world / step.of_all_ranks(labels)).backward()


def smoothed(step):
    token_mean(step, *step.batch(), label_smoothing=0.1).backward()


def classes_in_between(step):
    ids, labels = step.batch()
    loss = F.cross_entropy(step.logits(ids).transpose(1, 2), labels, reduction="sum")
    (loss * step.world / step.of_all_ranks(labels)).backward()


def other_ignored(step):
    ids, labels = step.batch()
    changed = labels.masked_fill(labels == IGNORED, 0)
    loss = cross_entropy(step.logits(ids), changed, reduction="sum", ignore_index=0)
    (loss * step.world / step.of_all_ranks(labels)).backward()


def summed_by_hand(step):
    ids, labels = step.batch()
    loss = cross_entropy(step.logits(ids, step.model), labels, reduction="sum")
    (loss / step.of_all_ranks(labels)).backward()
    step.sum_gradients()


def multiplied_again(step):
    (token_mean(step, *step.batch()) / step.world).backward()
    for parameter in step.model.parameters():
        parameter.grad *= step.world


def short_last(step):
    batches = [step.batch(rows, even=True) for rows in (2, 2, 1)]
    tokens = sum((labels != IGNORED).sum() for _, labels in batches)
    for ids, labels in batches:
        (cross_entropy(step.logits(ids), labels, reduction="sum") / tokens).backward()


def second_head(step):
    ids, labels = step.batch(even=True)
    logits, second = step.wrapped(ids)
    (cross_entropy(logits, labels) + 0.3 * cross_entropy(second[:, :-1], labels[:, 1:])).backward()


def evaluated_between(step):
    ids, labels = step.batch(rows=3)
    step.model.eval()
    cross_entropy(step.logits(ids, step.model), labels).item()
    step.model.train()
    token_mean(step, *step.batch()).backward()


def documents(step):
    ids, labels = step.batch(even=True)
    for last in (4, 10, 15, 21):
        labels.view(-1)[last] = IGNORED
    token_mean(step, ids.view(1, -1), labels.view(1, -1)).backward()


def two_batches(step, lengths):
    losses = [cross_entropy(step.logits(ids), labels) for ids, labels in (step.batch(2, n, True) for n in lengths)]
    (sum(losses) / len(losses)).backward()


def rank_means(step):
    ids, labels = step.batch()
    logits = step.logits(ids)
    (cross_entropy(logits, labels) + 1e-3 * logits.logsumexp(-1).square().mean()).backward()


def micro_means(step):
    for rows in (2, 2, 1):
        ids, labels = step.batch(rows, even=True)
        labels[:, :rows] = IGNORED
        (cross_entropy(step.logits(ids), labels) / 3).backward()


def rank_means_summed(step):
    ids, labels = step.batch()
    cross_entropy(step.logits(ids, step.model), labels).backward()
    step.sum_gradients()


def times_ranks(step):
    ids, labels = step.batch(even=True)
    logits = step.logits(ids)
    (step.world * cross_entropy(logits, labels) + 0.1 * logits.softmax(-1).mean((0, 1)).square().sum()).backward()


def divided_by_ranks(step):
    ids, labels = step.batch(even=True)
    (cross_entropy(step.logits(ids), labels) / step.world).backward()


def row_means(step):
    ids, labels = step.batch()
    losses = cross_entropy(step.logits(ids), labels, reduction="none").view(labels.shape)
    (losses.sum(1) / (labels != IGNORED).sum(1)).mean().backward()


def scaled_on_its_way(step):
    ids, labels = step.batch(even=True)
    loss = cross_entropy(step.logits(ids), labels)
    loss.register_hook(lambda gradient: gradient * 2)
    loss.backward()


def third(step):
    ids, labels = step.batch(even=True)
    logits = step.logits(ids)
    (cross_entropy(logits, labels) / 3 + 0.1 * logits.square().mean()).backward()


def twice_and_another_objective(step):
    ids, labels = step.batch(even=True)
    logits = step.logits(ids)
    (2 * cross_entropy(logits, labels) + F.mse_loss(logits, torch.ones_like(logits))).backward()


@dataclass
class Loss:
    name: str
    make: object
    words: str = ""  # of the finding; empty: none may be there
    status: str = "fail"


LOSSES = [
    Loss("token mean, by a hook of the loss", hooked),
    Loss("token mean, by the gradient that backward() is given", given),
    Loss("token mean, z-loss and balance of experts added", with_other_terms),
    Loss("token mean of losses of tokens, masked", masked),
    Loss("token mean, labels smoothed", smoothed),
    Loss("token mean, classes in the second dimension", classes_in_between),
    Loss("token mean, another ignored label", other_ignored),
    Loss("token mean of all ranks, gradients summed by the job", summed_by_hand),
    Loss("token mean of all ranks, gradients multiplied by the ranks again", multiplied_again),
    Loss("token mean, last micro-batch short", short_last),
    Loss("token mean, and that of a second head times 0.3", second_head),
    Loss("token mean, an evaluation with a graph before it", evaluated_between),
    Loss("token mean over the documents of one row", documents),
    Loss("two batches in one backward(), as long", lambda step: two_batches(step, (LENGTH, LENGTH))),
    Loss("mean by rank, z-loss added", rank_means, "is a mean of the ranks' means"),
    Loss("mean by micro-batch, last one short", micro_means, "is a mean of the micro-batches' means"),
    Loss("mean by rank, gradients summed by the job", rank_means_summed,
         "is a mean of the ranks' means, which have different numbers of tokens, multiplied by the number of ranks"),
    Loss("times the ranks, balance of experts added", times_ranks, "multiplied by the number of ranks"),
    Loss("divided by the ranks", divided_by_ranks, "divided by the number of ranks"),
    Loss("two batches in one backward(), of other lengths", lambda step: two_batches(step, (LENGTH, LENGTH - 4)),
         "is a mean of the means of batches that one backward() takes together", "inconclusive"),
    Loss("mean of the rows' means", row_means, "is a mean of the means of rows or documents", "inconclusive"),
    Loss("token mean, doubled by a hook", scaled_on_its_way,
         "but the gradient that its cross-entropy is given is 2 x as large", "inconclusive"),
    Loss("twice the token mean, and another objective as large", twice_and_another_objective,
         "multiplied by the number of ranks", "inconclusive"),
    Loss("a third of the token mean, and another term", third, "is 0.3333 x the mean over the supervised tokens", "inconclusive"),
]  # fmt: skip


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    model = Model()
    wrapped = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for number, loss in enumerate(LOSSES):
        optimizer.zero_grad()
        loss.make(Step(number, model, wrapped))
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
