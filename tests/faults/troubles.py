"""Small distributed jobs, each with one fault, and the same job without it: what `run-reader diagnose` is tried on.

A job is a function of (job, faulty). The line that a diagnosis should name ends in "# fault: NAME", NAME that of the
function; where others wait for that rank, in "# waits: NAME".
"""

import ctypes
import gc
import os
import resource
import signal
import sys
import threading
import time
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
from tiny_model import TinyModel, batch, cross_entropy  # noqa: E402

STEPS, AT = 8, 5  # of a job that computes right; the step in which the fault strikes
FOREVER = 600
TROUBLES = {}


@dataclass(frozen=True)
class Trouble:
    function: callable
    ranks: int
    alone: bool
    settings: dict


def trouble(ranks=2, alone=False, **settings):
    """Registers a job of so many ranks; `alone`: its times matter, so nothing else may run beside it; `settings`: of
    the recorder."""

    def register(function):
        TROUBLES[function.__name__] = Trouble(function, ranks, alone, settings)
        return function

    return register


class Job:
    """A model in training, equal on all ranks, with gradients that are averaged in one all_reduce."""

    def __init__(self, rank, world, store, progress):
        self.rank, self.world, self.progress = rank, world, progress
        torch.set_num_threads(1)
        torch.manual_seed(0)
        dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=world)
        self.model = TinyModel(width=16, layers=1)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def backward(self, number):
        inputs, labels = batch(number, self.rank, self.world, rows=2, length=32)
        loss = cross_entropy(self.model(inputs), labels)
        loss.backward()
        return loss.detach()

    def average(self):
        gradients = [one.grad for one in self.model.parameters() if one.grad is not None]
        flat = torch.cat([one.flatten() for one in gradients])
        dist.all_reduce(flat)  # waits: gradients
        for one, mean in zip(gradients, flat.split([one.numel() for one in gradients])):
            one.copy_(mean.view_as(one) / self.world)

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.progress()

    def train(self, steps=STEPS, before=None):
        """`before` is called with the number of each step, ahead of its gradients' all_reduce."""
        for number in range(steps):
            self.backward(number)
            if before:
                before(number)
            self.average()
            self.update()


# Ranks that do not come.


@trouble()
def uneven_batches(job, faulty):
    job.train(STEPS - (faulty and job.rank == 1))
    if faulty and job.rank == 1:
        while not os.path.exists("/nowhere/checkpoint-of-rank-0"):
            time.sleep(0.05)  # fault: uneven_batches


@trouble()
def uneven_batches_then_evaluation(job, faulty):
    job.train(STEPS - (faulty and job.rank == 1))
    dist.all_reduce(torch.ones(1))  # fault: uneven_batches_then_evaluation


@trouble()
def barrier_only_on_rank_0(job, faulty):
    def save(number):
        if number == AT and (job.rank == 0 or not faulty):
            dist.barrier()  # fault: barrier_only_on_rank_0

    job.train(before=save)


@trouble(ranks=4)
def wrong_group(job, faulty):
    rows = [dist.new_group([0, 1], group_desc="row"), dist.new_group([2, 3], group_desc="row")]
    columns = [dist.new_group([0, 2], group_desc="column"), dist.new_group([1, 3], group_desc="column")]

    def exchange(number):
        wrong = faulty and job.rank == 3 and number == AT
        group = columns[job.rank % 2] if wrong else rows[job.rank // 2]
        dist.all_reduce(torch.ones(16), group=group)  # fault: wrong_group
        dist.all_reduce(torch.ones(8), group=columns[job.rank % 2])

    job.train(before=exchange)


@trouble(ranks=3)
def all_to_all_on_one_rank(job, faulty):
    experts = dist.new_group([0, 1, 2], group_desc="experts")

    def route(number):
        tokens = 0 if faulty and number == AT and job.rank != 1 else 3
        if tokens:
            given = torch.ones(tokens, 4)
            dist.all_to_all_single(torch.empty(3, 4), given, group=experts)  # fault: all_to_all_on_one_rank

    job.train(before=route)


@trouble()
def send_against_send(job, faulty):
    def exchange(number):
        given, taken = torch.ones(1 << 20), torch.empty(1 << 20)
        if job.rank == 0 or (faulty and number == AT):
            dist.send(given, 1 - job.rank)  # fault: send_against_send
            dist.recv(taken, 1 - job.rank)
        else:
            dist.recv(taken, 1 - job.rank)
            dist.send(given, 1 - job.rank)

    job.train(before=exchange)


@trouble(ranks=3)
def receive_against_receive(job, faulty):
    """A pipeline whose stages all wait for their predecessor in a ring: fewer micro-batches than stages."""

    def exchange(number):
        given, taken = torch.ones(64), torch.empty(64)
        before, after = (job.rank - 1) % 3, (job.rank + 1) % 3
        if job.rank == 0 and not (faulty and number == AT):
            dist.send(given, after)
            dist.recv(taken, before)
        else:
            dist.recv(taken, before)  # fault: receive_against_receive
            dist.send(given, after)

    job.train(before=exchange)


def stuck(job, faulty, what):
    """Rank 1 never leaves `what` in one of its steps."""
    job.train(before=lambda number: what() if faulty and number == AT and job.rank == 1 else None)


@trouble()
def stuck_holding_the_interpreter_lock(job, faulty):
    def wait():
        ctypes.PyDLL(None).sleep(FOREVER)  # fault: stuck_holding_the_interpreter_lock

    stuck(job, faulty, wait)


@trouble()
def stuck_in_a_lock(job, faulty):
    def wait():
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()  # fault: stuck_in_a_lock

    stuck(job, faulty, wait)


@trouble()
def stuck_in_io(job, faulty):
    def wait():
        reader, _ = os.pipe()
        os.read(reader, 1)  # fault: stuck_in_io

    stuck(job, faulty, wait)


@trouble()
def stuck_in_native_code(job, faulty):
    def wait():
        ctypes.CDLL(None).sleep(FOREVER)  # fault: stuck_in_native_code

    stuck(job, faulty, wait)


class Rows(Dataset):
    def __init__(self, stuck_at):
        self.stuck_at = stuck_at

    def __len__(self):
        return STEPS

    def __getitem__(self, index):
        while index == self.stuck_at:
            time.sleep(1)
        return torch.ones(4)


@trouble()
def stuck_in_the_data_loader(job, faulty):
    rows = iter(DataLoader(Rows(AT if faulty and job.rank == 1 else -1), num_workers=1))
    job.train(before=lambda number: next(rows))  # fault: stuck_in_the_data_loader


# Ranks that end.


def ends(job, faulty, how):
    job.train(before=lambda number: how() if faulty and number == AT and job.rank == 1 else None)


@trouble()
def killed(job, faulty):
    ends(job, faulty, lambda: os.kill(os.getpid(), signal.SIGKILL))


@trouble()
def aborted(job, faulty):
    def fail():
        os.abort()  # fault: aborted

    ends(job, faulty, fail)


@trouble()
def null_pointer(job, faulty):
    ends(job, faulty, lambda: ctypes.string_at(0))  # fault: null_pointer


@trouble()
def exception(job, faulty):
    def fail():
        raise ValueError("sample 17 has no label")  # fault: exception

    ends(job, faulty, fail)


@trouble()
def exit_0_early(job, faulty):
    ends(job, faulty, lambda: sys.exit(0))


# Calls that do not fit.


@trouble()
def conditional_collective(job, faulty):
    def count(number):
        if number == AT and (job.rank == 0 or not faulty):
            dist.all_reduce(torch.ones(1))  # fault: conditional_collective
        dist.all_reduce(torch.ones(1))  # waits: conditional_collective

    job.train(before=count)


@trouble()
def swapped_order(job, faulty):
    def share(number):
        if faulty and number == AT and job.rank == 1:
            dist.broadcast(torch.ones(4), src=0)  # fault: swapped_order
            dist.all_reduce(torch.ones(4))
        else:
            dist.all_reduce(torch.ones(4))  # waits: swapped_order
            dist.broadcast(torch.ones(4), src=0)

    job.train(before=share)


@trouble()
def sum_against_max(job, faulty):
    def share(number):
        kind = dist.ReduceOp.MAX if faulty and number == AT and job.rank == 1 else dist.ReduceOp.SUM
        dist.all_reduce(torch.ones(4), op=kind)  # fault: sum_against_max

    job.train(before=share)


@trouble()
def sizes_differ(job, faulty):
    """A branch of the model that the batch of rank 0 does not touch: its gradients are missing in the all_reduce."""
    branch = torch.nn.Linear(16, 16)
    for number in range(STEPS):
        loss = job.backward(number)
        if not (faulty and number == AT and job.rank == 0):
            branch(torch.full((1, 16), float(loss))).sum().backward()
        present = [one.grad.flatten() for one in branch.parameters() if one.grad is not None]
        dist.all_reduce(torch.cat([torch.ones(4), *present]))  # fault: sizes_differ
        job.average()
        job.update()
        branch.zero_grad()


@trouble()
def types_differ(job, faulty):
    def share(number):
        kind = torch.int32 if faulty and number == AT and job.rank == 1 else torch.float32
        dist.all_reduce(torch.ones(4, dtype=kind))  # fault: types_differ

    job.train(before=share)


@trouble(ranks=3)
def roots_differ(job, faulty):
    def share(number):
        root = 1 if faulty and number == AT and job.rank == 1 else 0
        dist.broadcast(torch.ones(4), src=root)  # fault: roots_differ

    job.train(before=share)


@trouble(ranks=3)
def parts_differ(job, faulty):
    """Rank 2 expects one row more of rank 1 than that one gives it."""

    def route(number):
        expected = [1, 2, 1] if faulty and number == AT and job.rank == 2 else [1, 1, 1]
        dist.all_to_all_single(torch.empty(sum(expected), 4), torch.ones(3, 4), expected, [1, 1, 1])  # fault: parts_differ

    job.train(before=route)


@trouble()
def called_twice(job, faulty):
    def share(number):
        for _ in range(2 if faulty and number == AT and job.rank == 1 else 1):
            dist.all_reduce(torch.ones(4))  # fault: called_twice

    job.train(before=share)


# Ranks that are slow.


@trouble(ranks=3, alone=True)
def slow_rank(job, faulty):
    job.train(40, lambda number: time.sleep(0.1) if faulty and job.rank == 1 else None)


class Garbage:
    """Refers to itself, so that only a collection ends it; that takes as long as going through a heap of millions."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        time.sleep(0.3)


@trouble(ranks=2, alone=True)
def slow_by_turns(job, faulty):
    """Collections that take long, now on one rank, now on the other."""
    gc.disable()

    def collect(number):
        if faulty and number % 5 == 0 and number // 5 % 2 == job.rank:
            Garbage()
            gc.collect()

    job.train(63, collect)


@trouble(ranks=2, alone=True)
def slow_with_its_work(job, faulty):
    """Rows go to the rank of their expert; a rank takes as much longer as it has more of them."""

    def rows_of(rank, number):
        return 10 + number * 7 % 11 * 10 * (number % 2 == rank)

    def route(number):
        given = [rows_of(rank, number) // 2 for rank in range(2)]
        taken = [rows_of(job.rank, number) // 2] * 2
        dist.all_to_all_single(torch.empty(sum(taken), 4), torch.ones(sum(given), 4), taken, given)
        if faulty:
            time.sleep(0.003 * sum(taken))

    job.train(40, route)


@trouble(ranks=2, alone=True)
def slower_since_a_step(job, faulty):
    job.train(50, lambda number: time.sleep(0.4) if faulty and number >= 30 else None)


# Memory.


@trouble(PLUMBLINE_LARGE_ALLOCATION_MB="1")
def leak(job, faulty):
    kept = []

    def remember(number):
        activations = torch.ones(256, 1024)  # fault: leak
        if faulty:
            kept.append(activations)

    job.train(40, remember)


def limit_memory(more):
    """Lets this process ask for so many bytes beyond what it has mapped."""
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + more, mapped + more))


@trouble()
def growing_rows(job, faulty):
    """Logits of a row that grows until they do not fit into what the process may have."""
    limit_memory(400 << 20)
    embedding = torch.nn.Embedding(30001, 8)

    @torch.no_grad()
    def loss(number):
        length = 50 * 2**number if faulty and job.rank == 1 else 50 + number
        hidden = embedding(torch.zeros(2, length, dtype=torch.long))
        (hidden @ embedding.weight.T).sum()  # fault: growing_rows

    job.train(before=loss)


@trouble()
def quadratic_mask(job, faulty):
    """A mask of length x length for each head: twice the row length, four times the memory."""
    limit_memory(300 << 20)

    def attend(number):
        length = 500 + 1000 * number if faulty and job.rank == 0 else 500
        torch.ones(4, length, length).sum()  # fault: quadratic_mask

    job.train(STEPS, attend)


def run(name, faulty, rank, store, progress):
    """One rank of one job, from the process group's beginning to its end."""
    chosen = TROUBLES[name]
    job = Job(rank, chosen.ranks, store, progress)
    chosen.function(job, faulty)
    dist.barrier()
    dist.destroy_process_group()
