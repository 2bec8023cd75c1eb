"""Runs every collective of torch.distributed on small tensors and compares what it returns with the closed form.

Started by `plumbline check-collectives` in place of a job's script, once a rank. Leaves `rank-<R>.jsonl` in --output:
a line before each call, one for each difference, one for what the backend does not have, and one at the end. What is
compared holds exactly whatever the order of the sums, except for the sums of fractions, whose bound is the one of
summation in that type: (n - 1) u times the sum of the magnitudes.
"""

import argparse
import datetime
import json
import os

import torch
import torch.distributed as dist

SIZES = (1, 2, 7, 255, 1023, 65537)
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.uint8)
# Integers up to this one are exact in the type.
EXACT = {torch.float32: 1 << 24, torch.bfloat16: 1 << 8, torch.float16: 1 << 11, torch.int64: 1 << 40, torch.uint8: 255}
ROUNDING = {torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
REDUCTIONS = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN, "avg": dist.ReduceOp.AVG}
BITWISE = {"band": dist.ReduceOp.BAND, "bor": dist.ReduceOp.BOR, "bxor": dist.ReduceOp.BXOR}
NOT_THERE = ("not support", "unsupported", "not implemented", "no backend type", "only works with", "cannot use")


class Stopped(Exception):
    """A call raised: the groups are in no known state."""


class Journal:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")
        self.skipped = set()
        self.calls = 0

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


class Group:
    """A process group with the global ranks in it and this process's place among them, -1 outside."""

    def __init__(self, handle, ranks):
        self.handle, self.ranks, self.size = handle, ranks, len(ranks)
        self.place = ranks.index(dist.get_rank()) if dist.get_rank() in ranks else -1


class Probe:
    def __init__(self, journal, device):
        self.journal, self.device = journal, device

    def pattern(self, place, count, dtype, group, salt=0):
        """What the member at `place` contributes: small integers whose sum over the group is exact in the type."""
        index = torch.arange(count, dtype=torch.int64)
        most = EXACT[dtype] // group.size
        if most >= 2:
            values = (place * 7 + index * 3 + salt) % min(most + 1, 11)
        else:
            values = ((index + salt) % group.size == place).to(torch.int64)
        return values

    def tensor(self, values, dtype):
        """On the device, and of an odd address: the first element of a longer one is left out."""
        room = torch.zeros(values.numel() + 1, dtype=dtype, device=self.device)
        room[1:] = values.to(dtype)
        return room[1:]

    def filled(self, count, dtype):
        return torch.full((count,), 13, dtype=dtype, device=self.device)

    def call(self, what, function):
        """False when the backend has no such operation, which all ranks find alike."""
        kind = " of ".join(what.split(" of ")[:1])
        if kind in self.journal.skipped:
            return False
        self.journal.write(begin=what)
        self.journal.calls += 1
        try:
            work = function()
            if work is not None and hasattr(work, "wait"):
                work.wait()
            if self.device.type == "cuda":
                torch.cuda.synchronize()
        except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
            text = str(error).split("\n")[0]
            if any(words in text.lower() for words in NOT_THERE) or isinstance(error, NotImplementedError):
                self.journal.skipped.add(kind)
                self.journal.write(skip=kind, why=text)
                return False
            self.journal.write(raised=what, why=text)
            raise Stopped from error
        return True

    def expect(self, what, found, wanted, bound=None):
        found, wanted = found.detach().cpu(), wanted.cpu()
        if bound is None:
            wrong = found != wanted.to(found.dtype)
        else:
            wrong = ~((found.double() - wanted.double()).abs() <= bound.cpu())
        count = int(wrong.sum())
        if count:
            first = int(wrong.nonzero()[0])
            self.journal.write(
                fail=what,
                element=first,
                found=float(found[first]),
                wanted=float(wanted[first]),
                differ=count,
                elements=found.numel(),
            )

    def reduced(self, patterns, name):
        stack = torch.stack(patterns)
        if name in ("sum", "avg"):
            return stack.sum(0)
        if name in ("max", "min"):
            return stack.max(0).values if name == "max" else stack.min(0).values
        result = patterns[0].clone()
        for other in patterns[1:]:
            result = {"band": result & other, "bor": result | other, "bxor": result ^ other}[name]
        return result

    def reductions(self, dtype):
        names = dict(REDUCTIONS)
        if not dtype.is_floating_point:
            names.update(BITWISE)
            del names["avg"]
        return names

    def check_reductions(self, group, dtype, count, text):
        everyone = range(group.size)
        patterns = [self.pattern(place, count, dtype, group) for place in everyone]
        wide = [self.pattern(place, count * group.size, dtype, group, 1) for place in everyone]
        mine = slice(group.place * count, (group.place + 1) * count)
        for name, op in self.reductions(dtype).items():
            if name == "avg":
                # Multiples of the group's size, so that the mean is exact.
                if group.size * group.size * 10 > EXACT[dtype]:
                    continue
                patterns_of, factor = [p * group.size for p in patterns], group.size
            else:
                patterns_of, factor = patterns, 1
            wanted = self.reduced(patterns_of, name) // factor
            own = self.tensor(patterns_of[group.place], dtype)
            what = f"all_reduce {name} of {text}"
            if self.call(what, lambda: dist.all_reduce(own, op, group=group.handle)):
                self.expect(what, own, wanted)
            root = count % group.size
            own = self.tensor(patterns_of[group.place], dtype)
            what = f"reduce {name} of {text}, root {group.ranks[root]}"
            if self.call(what, lambda: dist.reduce(own, group.ranks[root], op, group=group.handle)):
                if group.place == root:
                    self.expect(what, own, wanted)
        for name in ("sum", "max"):
            op = REDUCTIONS[name]
            wanted = self.reduced(wide, name)[mine]
            out = self.filled(count, dtype)
            what = f"reduce_scatter_tensor {name} of {text}"
            source = self.tensor(wide[group.place], dtype)
            if self.call(what, lambda: dist.reduce_scatter_tensor(out, source, op, group=group.handle)):
                self.expect(what, out, wanted)
            out = self.filled(count, dtype)
            what = f"reduce_scatter {name} of {text}"
            pieces = list(self.tensor(wide[group.place], dtype).contiguous().chunk(group.size))
            if self.call(what, lambda: dist.reduce_scatter(out, pieces, op, group=group.handle)):
                self.expect(what, out, wanted)

    def check_sum_of_fractions(self, group, dtype, count, text):
        generator = torch.Generator().manual_seed(count)
        values = torch.rand((group.size, count), generator=generator, dtype=torch.float64) - 0.5
        values = values.to(dtype)
        own = self.tensor(values[group.place], dtype)
        what = f"all_reduce sum of fractions, {text}"
        if self.call(what, lambda: dist.all_reduce(own, group=group.handle)):
            exact = values.double()
            # One more rounding for the result's own type.
            bound = group.size * ROUNDING[dtype] * exact.abs().sum(0)
            self.expect(what, own, exact.sum(0), bound)

    def check_movements(self, group, dtype, count, text):
        everyone = range(group.size)
        patterns = [self.pattern(place, count, dtype, group, 2) for place in everyone]
        root = (count + 1) % group.size
        own = self.tensor(patterns[group.place], dtype)
        what = f"broadcast of {text}, root {group.ranks[root]}"
        if self.call(what, lambda: dist.broadcast(own, group.ranks[root], group=group.handle)):
            self.expect(what, own, patterns[root])
        own = self.tensor(patterns[group.place], dtype)
        whole = torch.cat(patterns)

        out = [self.filled(count, dtype) for _ in everyone]
        what = f"all_gather of {text}"
        if self.call(what, lambda: dist.all_gather(out, own, group=group.handle)):
            self.expect(what, torch.cat(out), whole)
        out = self.filled(count * group.size, dtype)
        what = f"all_gather_into_tensor of {text}"
        if self.call(what, lambda: dist.all_gather_into_tensor(out, own, group=group.handle)):
            self.expect(what, out, whole)
        out = [self.filled(count, dtype) for _ in everyone] if group.place == root else None
        what = f"gather of {text}, root {group.ranks[root]}"
        if self.call(what, lambda: dist.gather(own, out, group.ranks[root], group=group.handle)) and out:
            self.expect(what, torch.cat(out), whole)
        pieces = [self.tensor(p, dtype) for p in patterns] if group.place == root else None
        single = self.filled(count, dtype)
        what = f"scatter of {text}, root {group.ranks[root]}"
        if self.call(what, lambda: dist.scatter(single, pieces, group.ranks[root], group=group.handle)):
            self.expect(what, single, patterns[group.place])

    def check_exchanges(self, group, dtype, count, text):
        everyone = range(group.size)

        def piece(source, target, length):
            return self.pattern(source, length, dtype, group, target)

        even = [piece(group.place, target, count) for target in everyone]
        wanted = torch.cat([piece(source, group.place, count) for source in everyone])
        out = self.filled(count * group.size, dtype)
        source = self.tensor(torch.cat(even), dtype)
        what = f"all_to_all_single of {text}"
        if self.call(what, lambda: dist.all_to_all_single(out, source, group=group.handle)):
            self.expect(what, out, wanted)
        lists = [self.tensor(p, dtype) for p in even], [self.filled(count, dtype) for _ in everyone]
        what = f"all_to_all of {text}"
        if self.call(what, lambda: dist.all_to_all(lists[1], lists[0], group=group.handle)):
            self.expect(what, torch.cat(lists[1]), wanted)

        # From a to b: count elements and (a + 2 b) more, so that every pair has another size.
        def length(a, b):
            return (count + a + 2 * b) % (count + 3)

        sent = [length(group.place, b) for b in everyone]
        received = [length(a, group.place) for a in everyone]
        source = self.tensor(torch.cat([piece(group.place, b, sent[b]) for b in everyone]), dtype)
        wanted = torch.cat([piece(a, group.place, received[a]) for a in everyone])
        out = self.filled(sum(received), dtype)
        what = f"all_to_all_single with uneven splits of {text}"
        if self.call(what, lambda: dist.all_to_all_single(out, source, received, sent, group=group.handle)):
            self.expect(what, out, wanted)
        if group.size > 1:
            self.check_ring(group, dtype, count, text)

    def check_ring(self, group, dtype, count, text):
        after, before = (group.place + 1) % group.size, (group.place - 1) % group.size
        mine = self.tensor(self.pattern(group.place, count, dtype, group, 5), dtype)
        theirs = self.pattern(before, count, dtype, group, 5)
        out = self.filled(count, dtype)
        what = f"batch_isend_irecv of {text}"

        def batch():
            calls = [
                dist.P2POp(dist.isend, mine, group.ranks[after], group.handle),
                dist.P2POp(dist.irecv, out, group.ranks[before], group.handle),
            ]
            for work in dist.batch_isend_irecv(calls):
                work.wait()

        if self.call(what, batch):
            self.expect(what, out, theirs)
        out = self.filled(count, dtype)
        what = f"send and recv of {text}"

        def ring():
            if group.place == 0:
                dist.send(mine, group.ranks[after], group=group.handle)
            dist.recv(out, group.ranks[before], group=group.handle)
            if group.place != 0:
                dist.send(mine, group.ranks[after], group=group.handle)

        if self.call(what, ring):
            self.expect(what, out, theirs)

    def check(self, group):
        for dtype in DTYPES:
            for count in SIZES:
                name = str(dtype).replace("torch.", "")
                text = f"{count} {name} over ranks {shown(group.ranks)}"
                self.check_reductions(group, dtype, count, text)
                if dtype in ROUNDING:
                    self.check_sum_of_fractions(group, dtype, count, text)
                self.check_movements(group, dtype, count, text)
                self.check_exchanges(group, dtype, count, text)
        self.call(f"barrier of ranks {shown(group.ranks)}", lambda: dist.barrier(group=group.handle))


def shown(ranks):
    step = ranks[1] - ranks[0] if len(ranks) > 1 else 1
    regular = len(ranks) > 3 and all(b - a == step for a, b in zip(ranks, ranks[1:]))
    if regular:
        return f"{ranks[0]}-{ranks[-1]}" + (f" by {step}" if step != 1 else "")
    return ",".join(str(rank) for rank in ranks)


def groups_for(world, wanted):
    """Ranks of the groups that are tried: all, those of the job where they are known, else two divisions of the world
    into parts that differ in size, order and stride."""
    groups = [list(range(world))]
    divisions = [[int(rank) for rank in part.split(",")] for part in wanted.split(";")] if wanted else []
    if not divisions and world > 1:
        half = (world + 1) // 2
        divisions = [groups[0][:half], groups[0][half:]]
        if world > 2:
            divisions += [groups[0][0::2], groups[0][1::2]]
    for ranks in divisions:
        if ranks not in groups and all(0 <= rank < world for rank in ranks):
            groups.append(ranks)
    return groups


def chosen_device(backend):
    if "nccl" in backend and torch.cuda.is_available():
        index = int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
        torch.cuda.set_device(index)
        return torch.device("cuda", index)
    return torch.device("cpu")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--output", required=True)
    options.add_argument("--backend", default="")
    options.add_argument("--groups", default="", help="0,1;2,3")
    options.add_argument("--seconds", type=int, default=60)
    options = options.parse_args()
    backend = options.backend or ("nccl" if torch.cuda.is_available() and dist.is_nccl_available() else "gloo")
    device = chosen_device(backend)
    dist.init_process_group(backend, timeout=datetime.timedelta(seconds=options.seconds))
    rank, world = dist.get_rank(), dist.get_world_size()
    journal = Journal(os.path.join(options.output, f"rank-{rank}.jsonl"))
    journal.write(rank=rank, world=world, backend=backend, device=device.type, torch=torch.__version__)
    probe = Probe(journal, device)
    try:
        for number, ranks in enumerate(groups_for(world, options.groups)):
            handle = dist.group.WORLD if number == 0 else dist.new_group(ranks)
            group = Group(handle, ranks)
            if group.place >= 0:
                probe.check(group)
        probe.call("barrier at the end", dist.barrier)
    except Stopped:
        os._exit(1)  # the other ranks may wait for this one for ever
    journal.write(end=journal.calls)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
