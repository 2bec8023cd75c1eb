"""Repeats a recorded job of two ranks with `plumbline rerun`: the same losses bit for bit, deeper recorded.

    check_rerun.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import glob
import json
import os
import subprocess
import sys
import tempfile

import launch
import trace
import trial
from jobs import JOBS


def witnesses(folder):
    found = {}
    for name in glob.glob(os.path.join(folder, "witness-*.json")):
        with open(name) as file:
            witness = json.load(file)
        found[witness["rank"]] = witness["losses"]
    return found


def run(command, folder, environment):
    ended = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False
    )
    if ended.returncode != 0:
        sys.exit(f"{command} ends with {ended.returncode}:\n{ended.stdout.decode()}")
    return ended.stdout.decode()


def main():
    options = trial.options()
    plumbline = os.path.join(os.path.dirname(options.run_reader), "plumbline")
    bare = launch.environment()
    with tempfile.TemporaryDirectory(prefix="plumbline-rerun-") as folder:
        places = [os.path.join(folder, name) for name in ("first", "again", "runs")]
        for place in places:
            os.mkdir(place)
        first, again, runs = places
        run_directory = os.path.join(runs, "recorded")
        recorded = bare | {
            "PL_GLOBAL_SEED": "7",
            "WITNESS_DIR": first,
            "LD_PRELOAD": options.shim,
            "PLUMBLINE_RUN": run_directory,
        }
        (command,) = launch.commands(options.python, JOBS["ddp"], folder)
        run(command, folder, recorded)
        shown = run([plumbline, "rerun", run_directory, "--show"], "/", bare)
        said = run([plumbline, "rerun", run_directory, "--", f"WITNESS_DIR={again}"], "/", bare)

        problems = []
        for part in (f"cd {folder} && env ", "GLOO_SOCKET_IFNAME=lo", "OMP_NUM_THREADS=1", "PL_GLOBAL_SEED=7"):
            if part not in shown:
                problems.append(f"the shown command lacks {part}: {shown}")
        if " RANK=" in shown:
            problems.append(f"the launcher is given a rank: {shown}")
        if witnesses(first) != witnesses(again) or sorted(witnesses(again)) != [0, 1]:
            problems.append(f"losses differ: {witnesses(first)} and {witnesses(again)}")
        directories = [name for name in os.listdir(runs) if name != "recorded"]
        if len(directories) != 1 or f"recording into {runs}/" not in said:
            problems.append(f"the rerun recorded into {directories}: {said}")
        else:
            traces = trace.read(options.run_reader, os.path.join(runs, directories[0]))
            if sorted(traces) != [(0, 0), (1, 0)]:
                problems.append(f"the rerun left traces of {sorted(traces)}")
        for text in problems:
            print(text)
        sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
