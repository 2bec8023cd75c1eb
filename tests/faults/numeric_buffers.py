"""Buffers of copies: tables that are the same whatever the batch is, and statistics that are not."""

import torch
import torch.distributed as dist
from torch import nn

from numeric_case import Case, Entry, Model


class Scaled(Model):
    """A table beside the parameters, as of positions."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.linspace(1, 2, 24), persistent=False)

    def forward(self, x):
        return self.head(self.scale * torch.relu(self.norm(self.up(x))))


class Buffered(Case):
    module = Scaled

    def __init__(self, broadcast=True, **settings):
        super().__init__(**settings)
        self.broadcast = broadcast

    def model(self):
        torch.manual_seed(self.seed)
        return self.module()

    def wrap(self, model):
        return nn.parallel.DistributedDataParallel(model, broadcast_buffers=self.broadcast)

    def synchronizes(self, step):
        return False


class TableByRank(Buffered):
    """Made anew on each rank after the wrapper has broadcast it, as by a lazy initialisation."""

    def prepare(self, model, optimizer):
        model.scale = torch.linspace(1, 2 + dist.get_rank(), 24)


class TableByRankInShards(TableByRank):
    """FSDP2, which never looks at buffers."""

    def wrap(self, model):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        return fully_shard(model, mesh=init_device_mesh("cpu", (2,)))


class Statistics(Buffered):
    """Running statistics of each rank's own batches."""

    class module(Model):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(24)


WORDS = "is a buffer with other values on its replicas, and does not change with the batch"
BUFFER_FAULTS = [
    Entry("table that each rank makes after the wrapper", TableByRank(broadcast=False), "replicas", 0, WORDS, "scale"),
    Entry("FSDP2, table that each rank makes", TableByRankInShards(), "replicas", 0, WORDS, "scale"),
]
BUFFER_CLEAN = [
    Entry("a table in a buffer", Buffered(broadcast=False)),
    Entry("BatchNorm, buffers broadcast", Statistics()),
    Entry("BatchNorm, buffers left alone", Statistics(broadcast=False)),
]
