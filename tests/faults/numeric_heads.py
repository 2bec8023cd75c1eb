"""Losses of a language model whose logits are never there as a whole: computed in chunks, by torch's own cross-entropy or by a function
that takes hidden states and the head's weight."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

from numeric_case import Entry
from numeric_loss import IGNORED, LOSS, Language

CHUNK = 5  # tokens


class Headless(nn.Module):
    """Gives hidden states; its head is used by the loss."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(32, 8), nn.Linear(8, 32)

    def forward(self, ids):
        return self.embed(ids)


class FusedCrossEntropy(torch.autograd.Function):
    """The sum of the cross-entropy, or its mean, chunk by chunk; gradients are made on the way."""

    @staticmethod
    def forward(ctx, hidden, weight, bias, labels, reduction="sum", by_all=False):
        total, gradients = hidden.new_zeros(()), [torch.zeros_like(each) for each in (hidden, weight, bias)]
        for begin in range(0, len(labels), CHUNK):
            part, wanted = hidden[begin : begin + CHUNK], labels[begin : begin + CHUNK]
            logits, counts = part @ weight.t() + bias, wanted != IGNORED
            right = wanted.clamp(min=0).unsqueeze(1)
            total += ((logits.logsumexp(1) - logits.gather(1, right).squeeze(1)) * counts).sum()
            errors = logits.softmax(1).scatter_add(1, right, -torch.ones_like(right, dtype=logits.dtype)) * counts.unsqueeze(1)
            gradients[0][begin : begin + CHUNK] = errors @ weight
            gradients[1] += errors.t() @ part
            gradients[2] += errors.sum(0)
        divisor = 1 if reduction == "sum" else len(labels) if by_all else (labels != IGNORED).sum()
        ctx.save_for_backward(*(each / divisor for each in gradients))
        return total / divisor

    @staticmethod
    def backward(ctx, gradient):
        return *(each * gradient for each in ctx.saved_tensors), None, None, None


class Chunked(Language):
    """Each chunk's logits go through torch's cross-entropy."""

    def model(self):
        torch.manual_seed(self.seed)
        return Headless()

    def loss(self, model, x):
        ids, labels = x
        hidden, labels = model(ids).flatten(0, 1), labels.flatten()
        parts = [
            F.cross_entropy(model.module.head(hidden[i : i + CHUNK]), labels[i : i + CHUNK], reduction=self.reduction)
            for i in range(0, len(labels), CHUNK)
        ]
        return self.reduced(torch.stack(parts).nansum(), labels)


class MeanOfChunks(Chunked):
    reduction = "mean"

    def batch(self, random):
        """No chunk is without labels, and no two have equally many."""
        ids, _ = super().batch(random)
        labels = self.labels(ids).flatten()
        for begin in range(0, len(labels), CHUNK):
            labels[begin : begin + begin // CHUNK % 4] = IGNORED
        return ids, labels

    def reduced(self, loss, labels):
        return loss / -(-len(labels) // CHUNK) / self.micro_batches


class SumOfChunks(MeanOfChunks):
    def reduced(self, loss, labels):
        return loss / self.micro_batches


class Fused(Chunked):
    by_all = False

    def loss(self, model, x):
        ids, labels = x
        head = model.module.head
        hidden = model(ids).flatten(0, 1)
        loss = FusedCrossEntropy.apply(hidden, head.weight, head.bias, labels.flatten(), self.reduction, self.by_all)
        return self.reduced(loss, labels)


class DividesByAll(Fused):
    reduction, by_all = "mean", True

    def reduced(self, loss, labels):
        return loss * labels.numel() / self.supervised() / self.micro_batches


class MeanOfRanks(Fused):
    """Each rank divides by its own number of tokens."""

    def reduced(self, loss, labels):
        own = sum(2 * (self.labelled - 2 - 3 * micro - dist.get_rank()) for micro in range(3))
        return loss / own


BY_CHUNK = "is a mean of the means of chunks"
FUNCTION = "numeric_heads.FusedCrossEntropy.forward"
HEAD_ENTRIES = [
    Entry("chunks, mean of their means", MeanOfChunks(), "loss", 0, BY_CHUNK, LOSS),
    Entry("chunks, means added up", SumOfChunks(), "loss", 0, "of tokens, multiplied by the number of chunks", LOSS),
    Entry("fused head divides by all tokens", DividesByAll(), "loss", 0, "divides by all 24 tokens, though only 18 are", FUNCTION),
    Entry("fused head, mean of the ranks' means", MeanOfRanks(), "loss", 0, "is a mean of the ranks' means", LOSS),
    Entry("chunks, mean over all supervised tokens (no logits as a whole)", Chunked()),
    Entry("fused head, mean over all supervised tokens (no logits at all)", Fused()),
]
