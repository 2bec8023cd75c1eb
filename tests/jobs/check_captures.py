"""Runs train_captured.py without and with the shim, and compares what was captured with the job's own copies, byte for byte.

    check_captures.py KIND… --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import os
import pickle
import shutil
import struct
import sys
import tempfile

import launch
import trial
from jobs import Job

ALONE = ("plain", "frozen", "closure", "accumulate")
PROBES = ("param.before", "grad", "param.after")
NOTE, FULL, SAMPLE = range(3)


def strides(shape):
    found, size = [], 1
    for extent in reversed(shape):
        found.insert(0, size)
        size *= extent
    return found


def block(whole_shape, data, item, offset, shape):
    """The bytes of a block of a row-major tensor."""
    if not shape:
        return data
    steps, out = strides(whole_shape), []

    def take(dimension, place):
        if dimension == len(shape) - 1:
            first = place + offset[dimension] * steps[dimension]
            out.append(data[first * item : (first + shape[dimension]) * item])
            return
        for i in range(shape[dimension]):
            take(dimension + 1, place + (offset[dimension] + i) * steps[dimension])

    take(0, 0)
    return b"".join(out)


def size_of(shape):
    size = 1
    for extent in shape:
        size *= extent
    return size


class Comparison:
    def __init__(self, kind, captures, copies):
        self.kind, self.captures, self.copies, self.problems = kind, captures, copies, []
        self.compared = 0

    def expect(self, holds, text):
        if not holds and len(self.problems) < 20:
            self.problems.append(f"{self.kind}: {text}")

    def of_tensors(self):
        return [c for c in self.captures if c["probe"] in PROBES or c["probe"].startswith("state.")]

    def expected(self, capture):
        """The bytes that the capture's block has in the job's copy; None where the job has no such tensor."""
        copy = self.copies[max(capture["rank"], 0)].get((capture["step"], capture["probe"], capture["name"]))
        if copy is None:
            return None
        shape, data = copy
        if self.kind.startswith("fsdp1"):
            shape = (size_of(shape),)  # blocks of the flattened parameter
        item = len(data) // max(size_of(shape), 1)
        if capture["global_shape"] == list(shape):
            return block(shape, data, item, capture["offset"], capture["shape"])
        return data if list(shape) == capture["shape"] else None

    def compare_elements(self):
        for capture in self.of_tensors():
            where = f"rank {capture['rank']} step {capture['step']} {capture['probe']} {capture['name']}"
            expected = self.expected(capture)
            if expected is None:
                # FSDP1's state and gradients are not copied whole.
                self.expect(self.kind.startswith("fsdp1"), f"{where}: the job has no such tensor")
                continue
            data = bytes.fromhex(capture["data"])
            if capture["amount"] == SAMPLE and data:  # a rank may hold no element
                item = len(data) // len(capture["indices"])
                expected = b"".join(expected[i * item : (i + 1) * item] for i in capture["indices"])
            self.expect(data == expected, f"{where}: other bytes than the job's")
            self.compared += 1

    def compare_coverage(self, steps):
        """Everything that the job copied was captured, and the blocks of the ranks make up the whole."""
        captured = {}
        for capture in self.of_tensors():
            place = capture["step"], capture["probe"], capture["name"]
            captured.setdefault(place, {})[capture["rank"]] = capture
        for rank, copies in self.copies.items():
            for place, (shape, _) in copies.items():
                if place[0] not in steps:
                    continue
                found = captured.get(place, {})
                self.expect(found, f"rank {rank} {place}: not captured")
                blocks = {(tuple(c["offset"]), tuple(c["shape"])): c for c in found.values()}
                covered = sum(size_of(block_shape) for _, block_shape in blocks)
                self.expect(covered == size_of(shape), f"{place}: {covered} of {size_of(shape)} elements")

    def compare_blocks(self):
        """A rank's gradients are those of its own parameters."""
        blocks = {(c["probe"], c["rank"], c["step"], c["name"]): (c["offset"], c["shape"]) for c in self.of_tensors()}
        for (probe, *place), block in blocks.items():
            parameter = blocks.get(("param.before", *place))
            if probe == "grad":
                self.expect(block == parameter, f"gradient of {place}: block {block}, the parameter's is {parameter}")

    def compare_replicas(self):
        for capture in self.of_tensors():
            replicas = capture["replicas"]
            if self.kind == "ddp" and capture["shape"]:
                self.expect(replicas == [0, 1], f"{capture['name']}: replicas {replicas}")
            if self.kind in ("fsdp2", "fsdp1", "fsdp1_flat") and capture["shape"]:
                self.expect(replicas == [capture["rank"]], f"{capture['name']}: replicas {replicas}")
            if self.kind == "tp" and "Shard" in capture["placement"]:
                self.expect(len(replicas) == 1, f"{capture['name']}: replicas {replicas}")

    def compare_notes(self, steps):
        notes = [c for c in self.captures if c["probe"] == "optimizer.step"]
        found = sorted({c["step"] for c in notes})
        self.expect(found == steps, f"optimizer.step at {found}, not at {steps}")
        groups = [c["detail"] for c in self.captures if c["probe"] == "optimizer.group"]
        named = {name for detail in groups for name in detail["params"]}
        own = {c["name"] for c in self.of_tensors()}
        self.expect(own <= named, f"parameters that no group names: {own - named}")
        if self.kind == "frozen":
            rates = {detail["settings"]["lr"] for detail in groups}
            self.expect(rates == {1e-3, struct.unpack("f", struct.pack("f", 0.01))[0]}, f"learning rates {rates}")
            tied = [c for c in self.of_tensors() if c["detail"].get("tied")]
            self.expect({c["name"] for c in tied} == {"embedding.weight"}, "tied parameters")
            frozen = {c["name"] for c in self.of_tensors() if not c["detail"]["requires_grad"]}
            self.expect(len(frozen) == 4 and all(".attention." in name for name in frozen), f"frozen: {frozen}")


def read_copies(folder):
    copies = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            copies[int(name.split(".")[0])] = pickle.load(file)
    return copies


def run(options, kind, folder, shim, settings):
    job = Job("train_captured.py", (kind,), launcher="python" if kind in ALONE else "torchrun")
    copies = os.path.join(folder, "copies-" + (settings.get("PLUMBLINE_LEVEL") or "bare"))
    os.makedirs(copies)
    run_directory = os.path.join(folder, "run-" + os.path.basename(copies))
    outcome = launch.run(options.python, job, shim, run_directory, {**settings, "COPIES_DIR": copies})
    if outcome.status != 0:
        sys.exit(f"{kind} fails {settings}: {outcome.output[-3000:]}")
    losses = {rank: witness["losses"] for (rank, _), witness in outcome.witnesses.items()}
    return losses, read_copies(copies), run_directory


def check(options, kind, folder):
    losses, _, _ = run(options, kind, folder, None, {})
    problems = []
    levels = {"diagnose": [0, 1, 2], "watch": [1, 2]}
    for level, steps in levels.items():
        settings = {"PLUMBLINE_LEVEL": level}
        if level == "watch":
            settings["PLUMBLINE_CAPTURE_STEPS"] = "1-2"
        found, copies, run_directory = run(options, kind, folder, options.shim, settings)
        comparison = Comparison(kind, trial.captures(options, run_directory), copies)
        comparison.expect(found == losses, f"losses differ at level {level}")
        comparison.compare_elements()
        comparison.compare_coverage(steps)
        comparison.compare_blocks()
        comparison.compare_replicas()
        comparison.compare_notes(steps)
        comparison.expect(comparison.compared > 50, f"only {comparison.compared} tensors could be compared")
        problems += [f"{level}: {text}" for text in comparison.problems]
        print(f"{kind} at {level}: {comparison.compared} captures compared")
    return problems


def main():
    options = trial.options(("kinds", {"nargs": "+"}))
    problems = []
    for kind in options.kinds:
        folder = tempfile.mkdtemp(prefix="plumbline-captures-")
        try:
            problems += check(options, kind, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    for text in problems:
        print(text)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
