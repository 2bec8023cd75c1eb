"""What recording one collective costs: Plumbline beside PyTorch's flight recorder, on the same gloo all_reduce.

    collective_cost.py --python PYTHON --shim libplumbline.so [--rounds 10]

Each cost is the difference between two processes of a round, one with and one without. What differs from process to
process (where threads and buffers lie) is as large as the costs: take 10 rounds or more, on one core.
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import tempfile

# Columns of collective_job.py: gloo's worker and the writer of the trace are in the second alone.
THREADS = ["calling thread", "whole process"]
FOLDER = os.path.dirname(os.path.abspath(__file__))


def measure(options, variant):
    folder = tempfile.mkdtemp(prefix="plumbline-bench-")
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("PLUMBLINE_")}
    environment |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "TORCH_FR_BUFFER_SIZE": "0"}
    if variant == "plumbline":
        environment |= {"LD_PRELOAD": options.shim, "PLUMBLINE_RUN": os.path.join(folder, "run")}
    if variant == "flight recorder":
        environment |= {"TORCH_FR_BUFFER_SIZE": "20000"}
    try:
        line = [options.python, os.path.join(FOLDER, "collective_job.py")]
        out = subprocess.run(line, env=environment, stdout=subprocess.PIPE, check=True).stdout
        return dict(zip(THREADS, map(float, out.split())))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    variants = ["bare", "plumbline", "flight recorder"]
    rounds = []
    for _ in range(options.rounds):
        rounds.append({v: measure(options, v) for v in random.sample(variants, len(variants))})
    print("| variant | thread | CPU ns a call | on top (median, min, max) |")
    print("|---|---|---|---|")
    for variant in variants:
        for thread in THREADS:
            whole = statistics.median(r[variant][thread] for r in rounds)
            extra = [r[variant][thread] - r["bare"][thread] for r in rounds]
            top = f"{statistics.median(extra):.0f} ({min(extra):.0f}, {max(extra):.0f})"
            print(f"| {variant} | {thread} | {whole:.0f} | {top} |")


if __name__ == "__main__":
    main()
