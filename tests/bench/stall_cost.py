"""What the job loses when a stall makes the shim take stacks of all its threads.

    stall_cost.py --python PYTHON --shim libplumbline.so [--run-reader build/bin/run-reader]

A training thread takes some steps and then computes without any event; beside it 16 threads wait. Printed
is the longest time for which the computing training thread stood still, without the shim and with it, and how many
stacks were taken. Run it with a high priority (nice -n -15) on a machine that others use.
"""

import argparse
import os
import shutil
import subprocess
import tempfile

JOB = """
import threading, time
import torch
threads = [threading.Thread(target=threading.Event().wait, daemon=True) for _ in range(16)]
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
for thread in threads:
    thread.start()
end = time.perf_counter() + 12
last, longest = time.perf_counter(), 0.0
while last < end:
    now = time.perf_counter()
    longest, last = max(longest, now - last), now
print(longest * 1000)
"""


def longest_stop_ms(options, folder, shim):
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("PLUMBLINE_")}
    environment["OMP_NUM_THREADS"] = "1"
    if shim:
        environment |= {"LD_PRELOAD": options.shim, "PLUMBLINE_RUN": folder + "/run", "PLUMBLINE_STALL_SECONDS": "3"}
    printed = subprocess.run([options.python, "-c", JOB], env=environment, stdout=subprocess.PIPE, check=True).stdout
    return float(printed)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--run-reader")
    options = options.parse_args()
    for shim in (False, True):
        folder = tempfile.mkdtemp(prefix="plumbline-bench-")
        try:
            stop = longest_stop_ms(options, folder, shim)
            print(f"{'with' if shim else 'without'} the shim: at most {stop:.1f} ms without a turn", flush=True)
            if shim and options.run_reader:
                subprocess.run([options.run_reader, "stacks", folder + "/run"], check=False)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
