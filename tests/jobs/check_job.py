"""Runs one real job without and with the shim and compares: losses bit for bit, and the trace with the job's own counts.

    check_job.py JOB --python PYTHON --shim libplumbline.so --run-reader run-reader [--keep DIRECTORY]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import launch
import trace
import trial
from jobs import JOBS

# What gloo's work is called in the flight recorder, by what was called: gloo has no reduce-scatter of its own.
FLIGHT_RECORDER_NAMES = {
    "gloo:all_reduce": (
        "all_reduce",
        "all_reduce_coalesced",
        "reduce_scatter",
        "reduce_scatter_base",
        "reduce_scatter_tensor_coalesced",
    ),
    "gloo:all_gather": ("all_gather", "all_gather_base", "all_gather_coalesced", "all_gather_into_tensor_coalesced"),
    "gloo:all_to_all": ("all_to_all", "all_to_all_base"),
    "gloo:sparse_all_reduce": ("all_reduce_sparse",),
}
POINT_TO_POINT = {"c10d::send": "send", "c10d::recv_": "recv", "c10d::recv_any_source_": "recv_any_source"}


class Problems:
    def __init__(self):
        self.found = []

    def expect(self, holds, text):
        if not holds:
            self.found.append(text)

    def expect_equal(self, what, recorded, counted):
        self.expect(recorded == counted, f"{what}: the trace has {recorded}, the job counted {counted}")


def flight_recorder_name(call):
    for name, ops in FLIGHT_RECORDER_NAMES.items():
        if call["op"] in ops:
            return name
    return "gloo:" + call["op"]


def elements(shapes):
    total = 0
    for shape in shapes:
        size = 1
        for extent in shape:
            size *= extent
        total += size
    return total


def compare_collectives(problems, who, traced, witness):
    if witness["flight_recorder"] is None:
        return
    calls = [call for call in traced.calls() if call["op"] not in POINT_TO_POINT.values()]
    entries = witness["flight_recorder"]
    recorded = Counter((call["group_name"], flight_recorder_name(call)) for call in calls)
    problems.expect_equal(f"{who}: collectives", recorded, Counter((e["group"], e["op"]) for e in entries))
    # Sizes of the operations that leave as much as they find, in the order of their calls.
    sizes = [(call["group_name"], call["count_out"]) for call in calls if call["op"] in ("all_reduce", "broadcast")]
    counted = [(e["group"], elements(e["in"])) for e in entries if e["op"] in ("gloo:all_reduce", "gloo:broadcast")]
    if not any(call["op"].startswith("reduce_scatter") for call in calls):
        problems.expect_equal(f"{who}: sizes", sizes, counted)
    outcomes = traced.outcomes()
    ended = Counter(outcomes.get(call["id"], "pending") for call in traced.calls())
    problems.expect_equal(f"{who}: outcomes", ended, Counter({"completed": len(traced.calls())}))
    if witness["profiled"] is not None:
        counted = Counter({op: witness["profiled"].get(name, 0) for name, op in POINT_TO_POINT.items()})
        recorded = Counter(call["op"] for call in traced.calls() if call["op"] in POINT_TO_POINT.values())
        problems.expect_equal(f"{who}: point-to-point", recorded, +counted)


def compare_steps(problems, who, traced, witness):
    counted = Counter(witness["optimizer_steps"])
    problems.expect_equal(f"{who}: optimizer steps", traced.optimizer_steps(), counted)
    ended = Counter(step["optimizer_class"] for step in traced.events["step_end"])
    problems.expect_equal(f"{who}: ended optimizer steps", ended, counted)
    described = {group["handle"] for group in traced.events["step_group"]}
    begun = {step["handle"] for step in traced.events["step_begin"]}
    problems.expect_equal(f"{who}: optimizer steps with param groups", len(described), len(begun))


def compare_ranges(problems, who, traced, witness):
    """torch opens a range around each call of gloo for others who look, never for the shim alone."""
    opened = any(entry["name"].startswith("gloo:") for entry in traced.events["range_begin"])
    if witness["profiled"] is None:
        problems.expect(not opened, f"{who}: torch opened ranges of its own around gloo's calls")
    elif any(name.startswith("gloo:") for name in witness["profiled"]):
        problems.expect(opened, f"{who}: the ranges that the profiler saw were not recorded")


def compare_batches(problems, who, traced, witness):
    if witness["batches"] is None:
        return
    values = {"batch_rows": [], "batch_length": []}
    for sample in traced.events["sample"]:
        values.get(sample["counter"], []).append(sample["value"])
    recorded = [list(shape) for shape in zip(*values.values(), strict=True)]
    problems.expect_equal(f"{who}: batches", recorded, witness["batches"])


def check(job, options, problems, run_directory):
    bare = launch.run(options.python, job)
    shimmed = launch.run(options.python, job, options.shim, run_directory)
    problems.expect(bare.status == 0, f"the job fails without the shim: {bare.output[-2000:]}")
    problems.expect(shimmed.status == 0, f"the job fails under the shim: {shimmed.output[-2000:]}")
    problems.expect_equal("ranks that trained", sorted(shimmed.witnesses), sorted(bare.witnesses))
    for key in set(bare.witnesses) & set(shimmed.witnesses):
        problems.expect_equal(f"rank {key[0]}: losses", shimmed.witnesses[key]["losses"], bare.witnesses[key]["losses"])

    traces = trace.read(options.run_reader, run_directory)
    problems.expect_equal("traces", len(traces), job.traces)
    left = [name for name in os.listdir(run_directory) if name.startswith(".pending")]
    problems.expect(not left, f"hidden files were left behind: {left}")
    steps = set()
    for key, witness in shimmed.witnesses.items():
        traced = traces.get(key) or traces.get((-1, 0))  # a job without a launcher or a group has no rank
        if traced is None:
            problems.expect(False, f"rank {key[0]}, attempt {key[1]} left no trace")
            continue
        who = f"rank {key[0]}"
        compare_collectives(problems, who, traced, witness)
        compare_steps(problems, who, traced, witness)
        compare_ranges(problems, who, traced, witness)
        compare_batches(problems, who, traced, witness)
        problems.expect(traced.events["alloc"], f"{who}: no allocation was recorded")
        steps.add(max((step["step"] for step in traced.events["step_end"]), default=-1))
    problems.expect(len(steps) == 1, f"the last logical step differs between ranks: {steps}")

    if job.traces == job.ranks:  # no attempt that was killed on purpose
        for command in ("verify", "summary"):
            ended = subprocess.run([options.run_reader, command, run_directory], stdout=subprocess.PIPE, check=False)
            text = ended.stdout.decode()
            problems.expect(ended.returncode == 0, f"run-reader {command} ends with {ended.returncode}:\n{text}")


def main():
    options = trial.options(("job", {"choices": JOBS}), ("--keep", {"help": "keep the run here"}))
    folder = options.keep or tempfile.mkdtemp(prefix="plumbline-job-")
    problems = Problems()
    try:
        check(JOBS[options.job], options, problems, os.path.join(folder, "run"))
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    for text in problems.found:
        print(text)
    sys.exit(1 if problems.found else 0)


if __name__ == "__main__":
    main()
