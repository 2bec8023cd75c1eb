"""Kills training processes at random moments; what each had surely done when it died must be in its trace.

    check_kills.py --kills 50 --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import os
import random
import struct
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import launch  # noqa: E402
import trace  # noqa: E402
import trial  # noqa: E402


def counted(folder):
    """(collectives enqueued, waits that came back, optimizer steps that ended) by process."""
    counts = {}
    for name in os.listdir(folder):
        if name.startswith("counts-"):
            with open(os.path.join(folder, name), "rb") as file:
                counts[int(name.split("-")[1])] = struct.unpack("3Q", file.read(24))
    return counts


def recorded(traced):
    calls = len(traced.events["collective"])
    # A wait that came back means that the collective had ended; a wait for one that has ended leaves no mark.
    return calls, len(traced.events["collective_end"]), len(traced.events["step_end"])


def main():
    options = trial.options(("--kills", {"type": int, "default": 50}), ("--seed", {"type": int, "default": random.randrange(1 << 30)}))
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumbline-kills-") as folder:
        runs = os.path.join(folder, "runs")
        environment = launch.environment(LD_PRELOAD=options.shim, PLUMBLINE_RUN=runs, PLUMBLINE_FLUSH_MS="40")
        target = [os.path.join(FOLDER, "kill_target.py"), folder, str(options.kills), str(options.seed)]
        subprocess.run([options.python, *target], env=environment, check=True)
        counts = counted(folder)
        traces = trace.read_by_pid(options.run_reader, runs)
        if len(counts) != options.kills:
            problems.append(f"{len(counts)} processes were killed instead of {options.kills}")
        for pid, done in counts.items():
            if pid not in traces:
                problems.append(f"process {pid} left no trace")
                continue
            for what, least, seen in zip(("collectives", "ended collectives", "steps"), done, recorded(traces[pid])):
                if not least <= seen <= least + 1:
                    problems.append(f"process {pid}: {seen} {what} in the trace, {least} were done")
    if problems:
        print(f"seed {options.seed}", *problems, sep="\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
