"""What a job itself counts, without Plumbline: losses, PyTorch's flight recorder, optimizer steps, profiled c10d calls.

A job calls `start()` first, `loss(value)` each step and `finish()` last. With WITNESS_DIR set, each process then leaves
`witness-<rank>-<attempt>.json` there; the test compares that file with the trace.
"""

import gc
import json
import os
import time
from collections import Counter

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

_losses = []
_steps = Counter()
_batches = None
_profile = None


def start(distributed=True, profile_c10d=False):
    """Initialises gloo when `distributed`; returns (rank, world size). `profile_c10d` counts point-to-point calls,
    which the flight recorder does not know for gloo."""
    global _profile
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if profile_c10d:
        _profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True)
        _profile.__enter__()
    count_steps()
    if not distributed:
        return 0, 1
    import torch.distributed as dist

    dist.init_process_group("gloo")
    return dist.get_rank(), dist.get_world_size()


def count_steps():
    """Counts optimizer steps by class with a Python hook."""
    register_optimizer_step_pre_hook(lambda opt, *_: _steps.update([type(opt).__name__]))


def loss(value):
    _losses.append(float(torch.as_tensor(value).detach()).hex())


def follow_batches(embedding):
    """Notes rows and row length of what an embedding is given."""
    global _batches
    _batches = []
    embedding.register_forward_pre_hook(lambda module, arguments: _batches.append(list(arguments[0].shape)))


def _flight_recorder():
    import torch._C._distributed_c10d as c10d

    if not hasattr(c10d, "_dump_fr_trace_json"):
        return None
    entries = json.loads(c10d._dump_fr_trace_json(True, False)).get("entries", [])
    return [
        {
            "group": entry["process_group"][0],
            "op": entry["profiling_name"],
            "in": entry["input_sizes"],
            "out": entry["output_sizes"],
        }
        for entry in entries
    ]


def _profiled():
    if _profile is None:
        return None
    _profile.__exit__(None, None, None)
    return Counter(event.name for event in _profile.events() if event.name.startswith("c10d::"))


def finish(rank=None):
    """Writes the file, then ends the process group and lets gloo's threads go before the interpreter does."""
    import torch.distributed as dist

    distributed = dist.is_available() and dist.is_initialized()
    rank = dist.get_rank() if rank is None and distributed else rank or 0
    folder = os.environ.get("WITNESS_DIR")
    if folder:
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        record = {
            "rank": rank,
            "losses": _losses,
            "batches": _batches,
            "optimizer_steps": _steps,
            "flight_recorder": _flight_recorder() if distributed else None,
            "profiled": _profiled(),
        }
        with open(os.path.join(folder, f"witness-{rank}-{attempt}.json"), "w") as out:
            json.dump(record, out)
    if distributed:
        dist.destroy_process_group()
    gc.collect()
    time.sleep(0.3)
