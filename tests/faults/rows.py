"""One process that trains a small language model on rows of prompt and answer, right or with one of the faults of CASES.

    rows.py NAME

In ROWS_ORIGINALS it leaves what it begins with, under the names of another implementation: original.safetensors, and one with an element
that is another.
"""

import os
import sys
from types import SimpleNamespace

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

PAD, BOS, EOS, IGNORED = 0, 1, 2, -100
STEPS, ROWS, LENGTH = 3, 4, 14


class Model(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.config = SimpleNamespace(bos_token_id=BOS, eos_token_id=EOS, pad_token_id=pad)
        self.embed, self.head = nn.Embedding(32, 8), nn.Linear(8, 32)

    def forward(self, input_ids, attention_mask=None, position_ids=None, labels=None):
        logits = self.head(self.embed(input_ids)).flatten(0, 1)
        return F.cross_entropy(logits, F.pad(labels[:, 1:], (0, 1), value=IGNORED).flatten())


class Rows:
    """Rows of several lengths, padded on the right; the answer, its end included, has labels."""

    pad = PAD
    beginning = (BOS,)

    def row(self, random):
        """Tokens, and whether each belongs to the answer."""
        prompt = torch.randint(3, 32, (int(torch.randint(2, 5, (), generator=random)),), generator=random).tolist()
        answer = torch.randint(3, 32, (int(torch.randint(1, 5, (), generator=random)),), generator=random).tolist()
        tokens = [*self.beginning, *prompt, *answer, EOS]
        return tokens, [False] * (len(tokens) - len(answer) - 1) + [True] * (len(answer) + 1)

    def labels(self, tokens, learned):
        return [token if one else IGNORED for token, one in zip(tokens, learned)]

    def batch(self, random):
        ids, labels, mask = [], [], []
        for _ in range(ROWS):
            tokens, learned = self.row(random)
            padding = LENGTH - len(tokens)
            ids.append(tokens + [self.pad] * padding)
            labels.append(self.labels(tokens, learned) + [IGNORED] * padding)
            mask.append([1] * len(tokens) + [0] * padding)
        return {name: torch.tensor(value) for name, value in (("input_ids", ids), ("labels", labels), ("attention_mask", mask))}


class Packed(Rows):
    """One row of several documents, told apart by their positions."""

    def batch(self, random):
        ids, labels, positions = [], [], []
        for _ in range(ROWS):
            tokens, learned = self.row(random)
            ids += tokens
            labels += [IGNORED, *self.labels(tokens, learned)[1:]]
            positions += range(len(tokens))
        return {name: torch.tensor([value]) for name, value in (("input_ids", ids), ("labels", labels), ("position_ids", positions))}


class PackedWithoutEnds(Packed):
    """The end of each answer has no label, though nothing is padded."""

    def labels(self, tokens, learned):
        return [token if one and token != EOS else IGNORED for token, one in zip(tokens, learned)]


class Full(Rows):
    """Each row is full: documents one behind the other, cut off at its end, and each token has a label."""

    def batch(self, random):
        tokens = []
        while len(tokens) < ROWS * LENGTH:
            tokens += self.row(random)[0]
        ids = [tokens[LENGTH * i : LENGTH * (i + 1)] for i in range(ROWS)]
        return {"input_ids": torch.tensor(ids), "labels": torch.tensor([self.labels(row, [True] * LENGTH) for row in ids])}


class FullWithoutEnds(Full):
    labels = PackedWithoutEnds.labels


class TwiceBegun(Rows):
    """The chat template writes the beginning, the tokenizer adds another; and padding is the end token, so no end is learned."""

    pad = EOS
    beginning = (BOS, BOS)

    def labels(self, tokens, learned):
        return [token if one and token != self.pad else IGNORED for token, one in zip(tokens, learned)]


class NothingLearned(Rows):
    """The words that begin an answer are found in no row."""

    def labels(self, tokens, learned):
        return [IGNORED] * len(tokens)


# Name, rows, and of a fault the check and words of its finding.
CASES = [
    ("two beginnings in every row", TwiceBegun(), "data", "begin with token 1, the model's bos_token_id, twice in all 12 rows"),
    ("the end token is padding and never learned", TwiceBegun(), "loss", "never hold token 2, which pads and also ends a row"),
    ("the end of no packed row is learned", PackedWithoutEnds(), "data", "never hold token 2, the model's eos_token_id, though it follows each of"),
    ("the end of no document is learned in full rows", FullWithoutEnds(), "data", "never hold token 2, the model's eos_token_id, though it follows each of"),
    ("no label in any row", NothingLearned(), "data", "are ignored in all 12 captured rows: nothing is learned"),
    ("rows of prompt and answer", Rows(), "", ""),
    ("packed rows", Packed(), "", ""),
    ("full rows", Full(), "", ""),
]


ORIGINAL_NAMES = {"embed.weight": "model.embed_tokens.weight", "head.weight": "lm_head.weight", "head.bias": "lm_head.bias"}


def save_originals(model, folder):
    tensors = {ORIGINAL_NAMES[name]: value.clone() for name, value in model.state_dict().items()}
    save_file(tensors, os.path.join(folder, "original.safetensors"))
    tensors["lm_head.weight"][3, 2] += 1
    save_file(tensors, os.path.join(folder, "other.safetensors"))


def main(name):
    rows = next(case[1] for case in CASES if case[0] == name)
    torch.manual_seed(3)
    model = Model(rows.pad)
    save_originals(model, os.environ["ROWS_ORIGINALS"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    random = torch.Generator().manual_seed(7)
    for _ in range(STEPS):
        loss = model(**rows.batch(random))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1])
