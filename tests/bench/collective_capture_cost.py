"""What capturing one collective costs: two gloo ranks at level watch, with every step captured and with none.

    collective_capture_cost.py --python PYTHON --shim libplumbline.so
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REPEATS, CALLS = 12, 100  # a step has fewer calls than the captures of one are limited to


def run(name, size):
    import torch
    import torch.distributed as dist

    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    own, out = torch.randn(size), torch.zeros(2 * size)
    call = (lambda: dist.all_reduce(own)) if name == "all_reduce" else (lambda: dist.all_gather_into_tensor(out, own))
    found = []
    for _ in range(REPEATS):
        weight.grad = torch.ones(2)
        optimizer.step()
        before = time.process_time()
        for _ in range(CALLS):
            call()
        found.append((time.process_time() - before) / CALLS * 1e6)
    return f"{statistics.median(found):.1f} {min(found):.1f}"


def job():
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for name in ("all_reduce", "all_gather"):
        for size in (1000, 1_000_000):
            figures = run(name, size)
            if dist.get_rank() == 0:
                print(name, size, figures, flush=True)
    dist.destroy_process_group()


def measure(options, steps):
    folder = tempfile.mkdtemp(prefix="plumbline-bench-")
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("PLUMBLINE_")}
    environment |= {"LD_PRELOAD": options.shim, "PLUMBLINE_RUN": os.path.join(folder, "run"), "OMP_NUM_THREADS": "1"}
    environment |= {"PLUMBLINE_LEVEL": "watch", "PLUMBLINE_CAPTURE_STEPS": steps, "GLOO_SOCKET_IFNAME": "lo"}
    line = [options.python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", __file__, "--job"]
    try:
        said = subprocess.run(line, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
        return {tuple(line.split()[:2]): line.split()[2:] for line in said.splitlines() if line.startswith("all_")}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options = options.parse_args()
    without, with_captures = measure(options, "none"), measure(options, "all")
    print("| collective | elements | CPU µs a call (median, least) | captured |")
    print("|---|---|---|---|")
    for (name, size), figures in without.items():
        print(f"| {name} | {size} | {', '.join(figures)} | {', '.join(with_captures[name, size])} |")


if __name__ == "__main__":
    job() if sys.argv[1:] == ["--job"] else main()
