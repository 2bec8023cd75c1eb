"""A byte-level language model small enough for two CPU ranks, and the text that it trains on."""

import glob
import os
import sysconfig

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.head_width = width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x):
        rows, length, _ = x.shape
        q, k, v = (w(x).view(rows, length, -1, self.head_width).transpose(1, 2) for w in (self.query, self.key, self.value))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(rows, length, -1))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))


class TinyModel(nn.Module):
    """Embedding, blocks, head; a pipeline stage drops what it does not own by setting it to None."""

    def __init__(self, width=32, heads=2, layers=2, vocabulary=256):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleDict({str(i): Block(width, heads) for i in range(layers)})
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for block in self.blocks.values():
            x = block(x)
        return x if self.head is None else self.head(x)


def cross_entropy(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())


def _corpus():
    names = sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "*.py")))[:20]
    text = bytearray()
    for name in names:
        with open(name, "rb") as source:
            text += source.read()
    return torch.frombuffer(text, dtype=torch.uint8)


CORPUS = _corpus()


def batch(step, rank=0, world=1, rows=4, length=64):
    """Inputs and labels of one step, [rows, length] int64 each; different on every rank, the same on every run."""
    generator = torch.Generator().manual_seed(step * world + rank)
    starts = torch.randint(0, len(CORPUS) - length - 1, (rows,), generator=generator)
    window = torch.stack([CORPUS[i : i + length + 1] for i in starts.tolist()]).long()
    return window[:, :-1].contiguous(), window[:, 1:].contiguous()
