"""One process, no process group. --loader fork|spawn: data comes from worker processes. --profile: under PyTorch's
profiler, with memory and stacks."""

import argparse

import torch
from torch.utils.data import DataLoader, Dataset

import witness
from tiny_model import TinyModel, batch, cross_entropy


class Windows(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        inputs, labels = batch(index)
        return inputs, labels


def batches(loader):
    if loader is None:
        return (batch(step) for step in range(6))
    return DataLoader(Windows(), batch_size=None, num_workers=2, multiprocessing_context=loader)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--loader", choices=["fork", "spawn"])
    options.add_argument("--profile", action="store_true")
    options = options.parse_args()
    witness.start(distributed=False)
    if options.profile:
        with torch.profiler.profile(profile_memory=True, with_stack=True):
            train(options)
    else:
        train(options)
    witness.finish()


def train(options):
    model = TinyModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for inputs, labels in batches(options.loader):
        loss = cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        witness.loss(loss)


if __name__ == "__main__":
    main()
