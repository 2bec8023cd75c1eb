"""On PYTHONPATH: an all-reduce that gets the last element of a bfloat16 tensor wrong on rank 1, and of nothing else."""

import importlib.abc
import importlib.machinery
import os
import sys

MODULE = "torch.distributed.distributed_c10d"


def break_all_reduce(module):
    real = module.all_reduce

    def all_reduce(tensor, *arguments, **keywords):
        work = real(tensor, *arguments, **keywords)
        if str(tensor.dtype) == "torch.bfloat16" and os.environ.get("RANK") == "1" and tensor.numel() > 1000:
            tensor[-1] += 1
        return work

    module.all_reduce = all_reduce


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != MODULE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            break_all_reduce(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())
