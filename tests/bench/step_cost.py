"""CPU time of a training step with recording on and off, within one process: for costs far below the noise between processes.

    step_cost.py --python PYTHON --shim libplumbline.so [--size real|tiny|collective] [--pairs 60] [--steps 4]

Neighbouring blocks of steps of one job are compared, so that neither where buffers lie nor a machine that slows down
shows. One run switches recording off in every second block and captures nothing. For a DDP job of two ranks a second
one captures tensors in every second step. `collective` is one rank that calls all_reduce, 400 times a step. What stays in
place when recording is off, the hooks themselves, is not in the figures; whole_job.py has it, with the noise between
processes.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile

THREADS = ["calling thread", "whole process"]
CALLS = 400  # of a step, as in alternating_job.py
FOLDER = os.path.dirname(os.path.abspath(__file__))


def costs_of_blocks(options, captures):
    world = 1 if options.size == "collective" else 2
    folder = tempfile.mkdtemp(prefix="plumbline-bench-")
    run = os.path.join(folder, "run")
    os.mkdir(run)
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("PLUMBLINE_")}
    environment |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "LD_PRELOAD": options.shim, "PLUMBLINE_RUN": run}
    environment |= {"WORLD_SIZE": str(world), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(random.randrange(29000, 30000))}
    environment["PLUMBLINE_CAPTURE_STEPS"] = "%2" if captures else "1000000"  # none that this job comes to
    line = [options.python, os.path.join(FOLDER, "alternating_job.py"), options.size, str(2 * options.pairs)]
    line += ["1"] if captures else [str(options.steps), os.path.join(run, "control")]
    try:
        ranks = [
            subprocess.Popen(line, env=environment | {"RANK": str(rank), "LOCAL_RANK": str(rank)}, stdout=subprocess.PIPE)
            for rank in range(world)
        ]
        return json.loads([process.communicate(timeout=900)[0] for process in ranks][0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spread_of_median(values):
    medians = [statistics.median(random.choices(values, k=len(values))) for _ in range(2000)]
    return statistics.quantiles(medians, n=40)[0], statistics.quantiles(medians, n=40)[-1]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--size", choices=["tiny", "real", "collective"], default="real")
    options.add_argument("--pairs", type=int, default=60)
    options.add_argument("--steps", type=int, default=4, help="steps of a block")
    options = options.parse_args()
    print("| steps compared | thread | CPU µs without | on top, µs (95 % of medians drawn anew) | ratio |")
    print("|---|---|---|---|---|")
    calls = CALLS if options.size == "collective" else 1
    for captures in (False,) if options.size == "collective" else (False, True):
        what = "tensors captured, recorded without" if captures else "recorded, recording off"
        for thread, costs in zip(THREADS, zip(*costs_of_blocks(options, captures))):
            # Against both neighbours, which cancels a steady drift.
            extra = [costs[i] - (costs[i - 1] + costs[i + 1]) / 2 for i in range(2, len(costs) - 1, 2)]
            low, high = (figure / calls * 1e6 for figure in spread_of_median(extra))
            middle, plain = (statistics.median(figures) / calls * 1e6 for figures in (extra, costs[1::2]))
            print(
                f"| {what} | {thread} | {plain:.2f} | {middle:.2f} ({low:.2f} to {high:.2f}) | {1 + middle / plain:.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
