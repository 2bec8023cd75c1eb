"""Collectives on two gloo ranks, a case an optimizer step: some whose results are made wrong below c10d, and many right ones.

    LD_PRELOAD=wrong_results.so:libplumbline.so torchrun --nproc-per-node 2 collective_faults.py
"""

import ctypes
import datetime
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))

FAULTS = ctypes.CDLL(None)
RANK, SIZE = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "2"))
PEER = 1 - RANK
ALIVE = []  # what faults are made of


def leave(tensor, wrong, ranks=(1,), by="result"):
    """The next collective leaves `wrong` in `tensor`, on these ranks; by "copy" or "message": see wrong_results.cpp."""
    if RANK not in ranks:
        return
    wrong = wrong.to(tensor.dtype).contiguous()
    ALIVE.append(wrong)
    arm = getattr(FAULTS, f"wrong_{by}")
    size = wrong.numel() * wrong.element_size()
    arm(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_void_p(wrong.data_ptr()), ctypes.c_size_t(size))


def numbers(count, salt=0, dtype=torch.float32, rank=None):
    """What a rank gives: fractions, the same on every run."""
    generator = torch.Generator().manual_seed(1000 * salt + (RANK if rank is None else rank) + 7)
    values = torch.randn(count, generator=generator, dtype=torch.float64)
    return values.to(dtype) if dtype.is_floating_point else (values * 20).to(dtype)


def of_all(count, salt=0, dtype=torch.float32):
    return [numbers(count, salt, dtype, rank) for rank in range(SIZE)]


def one_element():
    own, parts = numbers(300, 1), of_all(300, 1)
    wrong = parts[0] + parts[1]
    wrong[5] *= 1.001
    leave(own, wrong)
    dist.all_reduce(own)


def maximum_for_sum():
    own = numbers(300, 2)
    leave(own, torch.maximum(*of_all(300, 2)), (0, 1))
    dist.all_reduce(own)


def not_reduced():
    own = numbers(300, 3)
    leave(own, own.clone())
    dist.all_reduce(own)


def summed_in_bfloat16():
    own, parts = numbers(300, 4), of_all(300, 4)
    leave(own, parts[0].bfloat16() + parts[1].bfloat16(), (0, 1))
    dist.all_reduce(own)


def reduced_twice():
    own, parts = numbers(300, 5), of_all(300, 5)
    leave(own, 2 * (parts[0] + parts[1]), (0, 1))
    dist.all_reduce(own)


def one_of_many():
    own, parts = numbers(100_003, 6), of_all(100_003, 6)
    wrong = parts[0] + parts[1]
    wrong[77_777] += 1
    leave(own, wrong)
    dist.all_reduce(own, group=PAIR)  # findings of one group and kind are one


def integer_off_by_one():
    own, parts = numbers(200, 7, torch.int64), of_all(200, 7, torch.int64)
    leave(own, torch.minimum(*parts) + (torch.arange(200) == 3))
    dist.all_reduce(own, dist.ReduceOp.MIN)


def reduced_to_root():
    own, parts = numbers(64, 8), of_all(64, 8)
    leave(own, parts[1], (0,))
    dist.reduce(own, 0)


def in_subgroup():
    own = numbers(50, 9)
    leave(own, numbers(50, 9, rank=0) * 0)
    dist.all_reduce(own, group=PAIR)


def swapped_gather():
    out = [torch.zeros(40) for _ in range(SIZE)] if RANK == 0 else None
    if RANK == 0:
        for tensor, wrong in zip(out, reversed(of_all(40, 10))):
            leave(tensor, wrong, (0,))
    dist.gather(numbers(40, 10), out, dst=0)


def swapped_all_gather():
    out = torch.zeros(SIZE * 40)
    leave(out, torch.cat(list(reversed(of_all(40, 11)))), (1,))
    dist.all_gather_into_tensor(out, numbers(40, 11))


def broadcast_not_written():
    own = numbers(5000, 12)
    leave(own, own.clone())
    dist.broadcast(own, 0)


def shifted_scatter():
    out, wide = torch.zeros(30), of_all(SIZE * 30, 13)
    leave(out, (wide[0] + wide[1])[:30], by="copy")
    dist.reduce_scatter_tensor(out, wide[RANK].clone())


def stale_exchange():
    out = numbers(2 * 2000, 99)
    stale = out.clone()
    leave(out[2000:], stale[2000:], (0,))
    dist.all_to_all_single(out, numbers(2 * 2000, 14))


def spoilt_uneven_exchange():
    sent = [3, 5] if RANK == 0 else [2, 7]
    got = [3, 2] if RANK == 0 else [5, 7]
    out = torch.zeros(sum(got))
    first = numbers(8, 15, rank=0)[3:]
    wrong = torch.cat([first + 1, numbers(9, 15, rank=1)[2:]])
    leave(out, wrong)
    dist.all_to_all_single(out, numbers(sum(sent), 15), got, sent)


def wrong_scatter():
    out = torch.zeros(20)
    leave(out, of_all(20, 16)[0])
    dist.scatter(out, [part.clone() for part in of_all(20, 16)] if RANK == 0 else None, src=0)


def strided_scatter():
    """A fault of gloo's own: it reads the memory of a tensor that is not contiguous as if it were."""
    whole = numbers(16, 17, rank=0).view(2, 8)
    parts = [whole[:, :4], whole[:, 4:]]
    dist.scatter(torch.zeros(2, 4), parts if RANK == 0 else None, src=0)


def spoilt_message():
    """One bit of what is received."""
    if RANK == 0:
        dist.send(numbers(3000, 18), 1)
        return
    own, sent = torch.zeros(3000), numbers(3000, 18, rank=0)
    wrong = sent.clone()
    wrong.view(torch.int32)[2000] ^= 1
    leave(own, wrong, by="message")
    dist.recv(own, 0)


def stale_message():
    """A batch of messages one way and back; what rank 0 receives is not written."""
    own, theirs = numbers(50, 19), numbers(50, 190)
    leave(theirs, theirs.clone(), (0,), by="message")
    calls = [dist.P2POp(dist.irecv, theirs, PEER), dist.P2POp(dist.isend, own, PEER)]
    works = dist.batch_isend_irecv(calls)
    for work in works:
        work.wait()


def right_reductions():
    floats = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
    integers = (torch.int64, torch.int32, torch.uint8, torch.int8)
    plain = (dist.ReduceOp.SUM, dist.ReduceOp.PRODUCT, dist.ReduceOp.MIN, dist.ReduceOp.MAX)
    bits = (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)
    for dtype in floats + integers:
        for op in plain + (() if dtype.is_floating_point else bits):
            for count in (1, 7, 1023, 5000):
                dist.all_reduce(numbers(count, 20, dtype), op)
        root = numbers(33, 21, dtype)
        dist.reduce(root, 1)
    dist.all_reduce_coalesced([numbers(5, 22), numbers(70, 23), numbers(3000, 24)])
    dist.all_reduce(torch.zeros(0))
    dist.all_reduce(torch.tensor([float("inf"), float("nan"), -float("inf"), 1.0]))
    dist.all_reduce(torch.zeros(100))
    dist.all_reduce(numbers(3000, 25).view(60, 50))


def right_scatters():
    for count in (1, 30, 4000):
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX):
            dist.reduce_scatter_tensor(torch.zeros(count), numbers(SIZE * count, 30), op)
            dist.reduce_scatter(torch.zeros(count), list(numbers(SIZE * count, 31).chunk(SIZE)), op)


def right_movements():
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.uint8):
        for count in (1, 7, 4000):
            own = numbers(count, 40, dtype)
            empty = lambda: torch.zeros(count, dtype=dtype)
            dist.broadcast(numbers(count, 41, dtype), 1)
            dist.all_gather([empty() for _ in range(SIZE)], own)
            dist.all_gather_into_tensor(torch.zeros(SIZE * count, dtype=dtype), own)
            dist.gather(own, [empty() for _ in range(SIZE)] if RANK == 1 else None, dst=1)
            dist.scatter(empty(), [numbers(count, 42 + i, dtype) for i in range(SIZE)] if RANK == 1 else None, src=1)
            dist.all_to_all_single(torch.zeros(SIZE * count, dtype=dtype), numbers(SIZE * count, 43, dtype))
    dist.all_gather([torch.zeros(6, 4) for _ in range(SIZE)], numbers(24, 44).view(4, 6).t().contiguous())


def right_exchanges():
    sent = [3, 5] if RANK == 0 else [2, 7]
    got = [3, 2] if RANK == 0 else [5, 7]
    dist.all_to_all_single(torch.zeros(sum(got), 9), numbers(9 * sum(sent), 50).view(-1, 9), got, sent)
    dist.all_to_all_single(torch.zeros(4 * RANK), numbers(4 * PEER, 51), [4 * RANK, 0], [0, 4 * PEER])


def right_messages():
    theirs = [torch.zeros(count) for count in (3, 5000)]
    for index, count in enumerate((3, 5000)):
        if RANK == 0:
            dist.send(numbers(count, 60), 1, tag=index)
            dist.recv(theirs[index], 1)
        else:
            dist.recv(theirs[index], 0, tag=index)
            dist.send(numbers(count, 61), 0)
    calls = [dist.P2POp(dist.isend, numbers(9, 62), PEER), dist.P2POp(dist.irecv, torch.zeros(9), PEER)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()


def received_into_one_place():
    """As pipelines do to open their connections: nobody reads what comes."""
    theirs = torch.zeros(1)
    calls = [dist.P2POp(dist.isend, torch.tensor([float(i + 1)]), PEER) for i in range(2)]
    calls += [dist.P2POp(dist.irecv, theirs, PEER) for _ in range(2)]
    for work in dist.batch_isend_irecv(calls):
        work.wait()


def right_later():
    """Asynchronous calls, waited for late, in another order, or by nobody; a subgroup."""
    own, gathered = numbers(3000, 70), torch.zeros(SIZE * 500)
    part = numbers(500, 71)
    works = [dist.all_reduce(own, async_op=True), dist.all_gather_into_tensor(gathered, part, async_op=True)]
    scattered = torch.zeros(100)
    works.append(dist.reduce_scatter_tensor(scattered, numbers(SIZE * 100, 72), async_op=True))
    for work in reversed(works):
        work.wait()
    gathered.zero_()
    own.zero_()
    dist.all_reduce(numbers(100, 73), async_op=True)
    dist.all_reduce(numbers(100, 74), group=PAIR)
    if RANK == 0:
        dist.all_reduce(numbers(100, 75), group=ALONE)
    dist.barrier()


def overwritten():
    """The job writes to a tensor that a call still uses: whatever comes out, the collective is not to blame."""
    for size in (200_000, 400_000):
        own, out = numbers(size, 80), torch.zeros(SIZE * size)
        work = dist.all_gather_into_tensor(out, own, async_op=True)
        own.zero_()
        work.wait()
        own = numbers(size, 81)
        work = dist.all_reduce(own, async_op=True)
        own.zero_()
        work.wait()


def data_parallel():
    from tiny_model import TinyModel, batch, cross_entropy

    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(TinyModel())
    inputs, labels = batch(0, RANK, SIZE)
    cross_entropy(model(inputs), labels).backward()


def sharded():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    from tiny_model import TinyModel, batch, cross_entropy

    model = TinyModel()
    for block in model.blocks.values():
        fully_shard(block, mesh=init_device_mesh("cpu", (SIZE,)))
    fully_shard(model, mesh=init_device_mesh("cpu", (SIZE,)))
    inputs, labels = batch(0, RANK, SIZE)
    cross_entropy(model(inputs), labels).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


def tensor_parallel():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    from tiny_model import TinyModel, batch, cross_entropy

    model, mesh = TinyModel(), init_device_mesh("cpu", (SIZE,))
    for block in model.blocks.values():
        plan = {f"attention.{name}": ColwiseParallel() for name in ("query", "key", "value")}
        parallelize_module(
            block, mesh, plan | {"attention.out": RowwiseParallel(), "up": ColwiseParallel(), "down": RowwiseParallel()}
        )
    inputs, labels = batch(0)
    cross_entropy(model(inputs), labels).backward()


# Name, function, words that the finding must have (none: it must stay silent), ranks that it must name.
def scaled_sum():
    """What the parts are multiplied by is captured with them."""
    for factor in (FACTOR, torch.tensor([FACTOR])):
        try:
            dist.all_reduce(torch.ones(3), op=dist._make_nccl_premul_sum(factor))
        except RuntimeError:
            continue
        raise AssertionError("gloo has learnt to scale: judge its results")


FACTOR = 0.25
CASES = [
    ("all_reduce: every op and type, odd sizes, coalesced", right_reductions, "", []),
    ("one element of an all_reduce 0.1 % off on one rank", one_element, "is not the sum", [1]),
    ("maximum in place of the sum", maximum_for_sum, "is the maximum", [0, 1]),
    ("all_reduce leaves a rank its own part", not_reduced, "not reduced", [1]),
    ("float32 summed in bfloat16", summed_in_bfloat16, "added up in bfloat16", [0, 1]),
    ("summed twice", reduced_twice, "reduced twice", [0, 1]),
    ("one of 100,003 elements wrong on one rank", one_of_many, "differs from rank to rank", [0, 1]),
    ("minimum of integers off by one", integer_off_by_one, "is not the min", [1]),
    ("reduce leaves the root another rank's part", reduced_to_root, "is what rank 1 gave, not reduced", [0]),
    ("zeros from an all_reduce of a subgroup", in_subgroup, "is not the sum", [1]),
    ("reduce_scatter: sums, maxima, lists", right_scatters, "", []),
    ("gather with the blocks of two ranks swapped", swapped_gather, "is what rank 1 gave", [0]),
    ("all_gather with the blocks of two ranks swapped", swapped_all_gather, "is what rank 1 gave", [1]),
    ("broadcast that leaves a rank what it had", broadcast_not_written, "was not written", [1]),
    ("reduce_scatter off by a rank", shifted_scatter, "is the part of rank 0", [1]),
    ("block of an all_to_all not written", stale_exchange, "was not written", [0]),
    ("block of an uneven all_to_all spoilt", spoilt_uneven_exchange, "is none of the blocks", [1]),
    ("scatter gives a rank the block of another", wrong_scatter, "as its block 0", [1]),
    ("scatter of tensors that are not contiguous", strided_scatter, "is none of the blocks", [0, 1]),
    ("one bit of a received message wrong", spoilt_message, "is none of the blocks", [1]),
    ("message that is not written", stale_message, "was not written", [0]),
    ("broadcast, all_gather, gather, scatter, all_to_all", right_movements, "", []),
    ("uneven all_to_all", right_exchanges, "", []),
    ("send and recv, batches", right_messages, "", []),
    ("asynchronous, in other orders, in subgroups", right_later, "", []),
    ("a tensor written to while the call uses it", overwritten, "", []),
    ("DistributedDataParallel", data_parallel, "", []),
    ("fully_shard", sharded, "", []),
    ("tensor parallel", tensor_parallel, "", []),
    ("sum of scaled parts, which gloo refuses", scaled_sum, "", []),
    ("two messages received into one place", received_into_one_place, "", []),
]


def main():
    global PAIR, ALONE
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
    torch.set_num_threads(1)
    PAIR, ALONE = dist.new_group([0, 1], group_desc="pair"), dist.new_group([0], group_desc="alone")
    weight = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _, case, *_ in CASES:
        case()
        weight.grad = torch.ones(3)
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
