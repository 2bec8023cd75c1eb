"""Losses of a language model under DistributedDataParallel, with the denominators of many a framework."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from numeric_case import Case, Entry

IGNORED = -100
FIRST_STEP = 20  # of the captures: later than any step of the other trainings


class Language(Case):
    """Three micro-batches a step, with different numbers of supervised tokens, also by rank."""

    micro_batches = 3
    clock = None  # steps with each training step of all cases: the number by which captures go

    def model(self):
        torch.manual_seed(self.seed)
        return nn.Sequential(nn.Embedding(32, 8), nn.Linear(8, 32))

    def wrap(self, model):
        return nn.parallel.DistributedDataParallel(model)

    def synchronizes(self, step):
        return False

    def prepare(self, model, optimizer):
        self.micro = 0

    def batch(self, random):
        ids = torch.randint(1, 32, (2, 12), generator=random)
        labels = self.labels(ids)
        labels[:, : 2 + 3 * (self.micro % 3) + dist.get_rank()] = IGNORED
        self.micro += 1
        return ids, labels

    def labels(self, ids):
        return F.pad(ids[:, 1:], (0, 1), value=IGNORED)

    labelled = 11  # of the 12 places of a row

    def supervised(self):
        """Of a rank in a micro-batch, in the mean over ranks and micro-batches."""
        return sum(2 * (self.labelled - 2 - 3 * micro - rank) for micro in range(3) for rank in range(2)) / 6

    def loss(self, model, x):
        ids, labels = x
        return self.reduced(F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), reduction=self.reduction), labels)

    reduction = "sum"

    def reduced(self, loss, labels):
        # DistributedDataParallel divides by the number of ranks.
        return loss / self.supervised() / self.micro_batches

    def after_step(self, step, model, optimizer):
        self.clock.step()


class TimesRanks(Language):
    def reduced(self, loss, labels):
        return super().reduced(loss, labels) * dist.get_world_size()


class NotDivided(Language):
    """The mean over a step's tokens, summed over its micro-batches as if each were a step."""

    def reduced(self, loss, labels):
        return super().reduced(loss, labels) * self.micro_batches


class TimesBoth(Language):
    def reduced(self, loss, labels):
        return super().reduced(loss, labels) * self.micro_batches * dist.get_world_size()


class MeanOfMeans(Language):
    reduction = "mean"

    def reduced(self, loss, labels):
        return loss / self.micro_batches


class PaddingCounted(Language):
    def reduced(self, loss, labels):
        return loss / labels.numel() / self.micro_batches


class NoDenominator(Language):
    def reduced(self, loss, labels):
        return loss


class NotShifted(Language):
    labelled = 12

    def labels(self, ids):
        return ids.clone()


LOSS = "the loss that backward() was called on"
MULTIPLIED = "is the mean over the supervised tokens multiplied by "
LOSS_ENTRIES = [
    Entry("loss times the number of ranks", TimesRanks(), "loss", 0, MULTIPLIED + "the number of ranks", LOSS),
    Entry("loss not divided by the micro-batches", NotDivided(), "loss", 0, MULTIPLIED + "the number of micro-batches", LOSS),
    Entry("loss times ranks and micro-batches", TimesBoth(), "loss", 0,
          MULTIPLIED + "the number of micro-batches and the number of ranks", LOSS),
    Entry("mean of the micro-batches' means", MeanOfMeans(), "loss", 0, "a mean of the micro-batches' means", LOSS),
    Entry("padding counted", PaddingCounted(), "loss", 0, "divided by all 144 tokens rather than the 66 supervised ones", LOSS),
    Entry("sum of losses", NoDenominator(), "loss", 0, "a sum over tokens", LOSS),
    Entry("labels not shifted", NotShifted(), "loss", 0, "", "labels"),
    Entry("mean over the supervised tokens of all ranks and micro-batches", Language()),
]
