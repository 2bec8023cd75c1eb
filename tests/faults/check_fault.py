"""Runs faulty.py in one kind of trouble, without and with the shim, and says whether the job and its trace are right.

    check_fault.py FAULT --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

FOLDER = os.path.dirname(os.path.abspath(__file__))
JOBS = os.path.join(FOLDER, "..", "jobs")
sys.path.insert(0, JOBS)
import launch  # noqa: E402
import trace  # noqa: E402
import trial  # noqa: E402
from jobs import Job  # noqa: E402

STEPS, STEPS_UNTIL_FAULT = 6, 4


@dataclass(frozen=True)
class Fault:
    """What faulty.py is told, in which surroundings, and what must come of it."""

    argument: str = "clean"
    ranks: int = 1
    steps: int = STEPS  # optimizer steps that the trace of every rank holds
    environment: dict = field(default_factory=dict)
    disk: str = ""  # mount options of a tmpfs that holds the run directory
    recorded: bool = True  # what happens can be recorded at all
    ending: str = "exited with status 0"  # part of what run-reader says of a rank's end
    drops: bool = False
    traces: int = 0  # where they are not as many as ranks
    verify: int | None = None  # exit status of run-reader verify


FAULTS = {
    "segv": Fault("segv", steps=STEPS_UNTIL_FAULT, ending="was killed by SIGSEGV"),
    "abort": Fault("abort", ranks=2, steps=STEPS_UNTIL_FAULT, ending=""),
    "exit_now": Fault("exit_now", steps=STEPS_UNTIL_FAULT, ending="exited with status 3"),
    "exception": Fault("exception", steps=STEPS_UNTIL_FAULT, ending="RuntimeError"),
    "fork": Fault("fork"),
    "vanished_directory": Fault("vanish", recorded=False),
    "small_disk": Fault(disk="size=2m", recorded=False),
    "descriptors": Fault("descriptors", environment={"PLUMBLINE_FLUSH_MS": "50"}, verify=0),
    "interrupt": Fault("interrupt", steps=STEPS_UNTIL_FAULT, ending="was killed by SIGINT after KeyboardInterrupt"),
    "fork_trains": Fault("fork_trains", traces=2, verify=0),
    "exec": Fault("exec", traces=2, steps=-1, ending="was replaced by exec"),
    "disk_fills": Fault(
        "fill",
        disk="size=80m",
        environment={"PLUMBLINE_FLUSH_MS": "50"},
        steps=-1,
        ending="exited with status 0; its recording had ended before",
        verify=3,
    ),
    "read_only": Fault(disk="ro", recorded=False),
    "tiny_ring": Fault(environment={"PLUMBLINE_RING_KB": "1"}, steps=-1, drops=True),
}


@contextlib.contextmanager
def run_directory(fault, folder):
    path = os.path.join(folder, "disk")
    os.mkdir(path)
    if fault.disk:
        subprocess.run(["mount", "-t", "tmpfs", "-o", fault.disk, "tmpfs", path], check=True)
    try:
        yield os.path.join(path, "run")
    finally:
        if fault.disk:
            subprocess.run(["umount", "-l", path], check=True)


def launch_fault(options, fault, shim=None, directory=None):
    script = os.path.join("..", "faults", "faulty.py")
    launcher = "torchrun" if fault.ranks > 1 else "python"
    job = Job(script, (fault.argument,), launcher=launcher, ranks=fault.ranks)
    return launch.run(options.python, job, shim, directory, fault.environment)


def check_trace(options, fault, directory, expect):
    traces = trace.read_all(options.run_reader, directory) if os.path.isdir(directory) else []
    if not fault.recorded:
        expect(not any(traced.events["step_end"] for traced in traces), "steps where none can be recorded")
        if traces:
            said = subprocess.run([options.run_reader, "verify", directory], stdout=subprocess.PIPE, check=False)
            expect(said.returncode == 3, f"what was not recorded is not told:\n{said.stdout.decode()}")
        return
    expected = fault.traces or fault.ranks
    expect(len(traces) == expected, f"{len(traces)} traces instead of {expected}")
    left = [name for name in os.listdir(directory) if name.startswith(".pending")]
    expect(not left, f"hidden files were left behind: {left}")
    said = subprocess.run([options.run_reader, "ranks", "--json", directory], stdout=subprocess.PIPE, check=False)
    expect(fault.ending in said.stdout.decode(), f"no word of '{fault.ending}' in:\n{said.stdout.decode()}")
    if fault.verify is not None:
        verify = subprocess.run([options.run_reader, "verify", directory], stdout=subprocess.PIPE, check=False)
        expect(verify.returncode == fault.verify, f"verify: {verify.returncode}\n{verify.stdout.decode()}")
    for traced in traces:
        steps = len(traced.events["step_end"])
        expect(fault.steps in (-1, steps), f"{steps} optimizer steps were recorded, {fault.steps} happened")
        if fault.drops:
            check_drops(traced, expect)


def check_drops(traced, expect):
    """Every allocation and free that a hook saw was either recorded or counted as dropped."""
    fired = {hook["name"]: hook["fired"] for hook in traced.hooks}
    for kind, hook in (("alloc", "c10::alloc_cpu"), ("free", "c10::free_cpu")):
        dropped = traced.dropped.get(kind, 0)
        expect(dropped > 0, f"no {kind} was dropped from a ring of 32 slots")
        total = len(traced.events[kind]) + dropped
        expect(total <= fired[hook], f"{total} of kind {kind} recorded or dropped, {fired[hook]} happened")
        # Requests for zero bytes reach the hook and are no allocation.
        expect(total >= fired[hook] * 0.9, f"{total} of kind {kind} recorded or dropped, {fired[hook]} happened")


def check(options, fault, folder, expect):
    bare = launch_fault(options, fault)
    with run_directory(fault, folder) as directory:
        shimmed = launch_fault(options, fault, options.shim, directory)
        expect(bare.status == shimmed.status, f"exit status {shimmed.status} under the shim, {bare.status} without")
        for key, witness in bare.witnesses.items():
            same = shimmed.witnesses.get(key, {}).get("losses") == witness["losses"]
            expect(same, f"rank {key[0]}: the losses differ from those without the shim")
        check_trace(options, fault, directory, expect)


def main():
    options = trial.options(("fault", {"choices": FAULTS}))
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumbline-fault-") as folder:
        check(options, FAULTS[options.fault], folder, lambda holds, text: holds or problems.append(text))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
