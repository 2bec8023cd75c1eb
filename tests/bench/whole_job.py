"""CPU time of a whole two-rank DDP job with and without the shim, in interleaved pairs, beside its rivals.

    whole_job.py --python PYTHON --shim libplumbline.so [--pairs 10] [--size tiny|real] [--rivals] [--diagnose]

Every round runs each variant once, in a new order; ratios are taken within a round, so that a machine which slows down
between rounds does not show. --diagnose adds a run at that level, which captures every tensor of every step whole.
Prints a Markdown table.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))


def measure(options, variant, size):
    folder = tempfile.mkdtemp(prefix="plumbline-bench-")
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and not k.startswith("PLUMBLINE_")}
    environment |= {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    line = [os.path.join(FOLDER, "bench_job.py"), "--size", size]
    if variant == "diagnose":
        environment["PLUMBLINE_LEVEL"] = "diagnose"
    if variant in ("plumbline", "diagnose"):
        environment |= {"LD_PRELOAD": options.shim, "PLUMBLINE_RUN": os.path.join(folder, "run")}
    if variant == "profiler":
        line.append("--profiler")
    if variant == "memray":
        output = os.path.join(folder, "out-%p.bin")
        line = ["-m", "memray", "run", "-q", "--native", "-o", output, *line]
    ranks = []
    try:
        for rank in range(2):
            place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            place["MASTER_PORT"] = str(options.port)
            command = [options.python, *[part.replace("%p", str(rank)) for part in line]]
            ranks.append(subprocess.Popen(command, env=environment | place, stdout=subprocess.PIPE))
        outputs = [process.communicate(timeout=300)[0].decode() for process in ranks]
        if any(process.returncode for process in ranks):
            sys.exit(f"{variant}: the job failed with status {[p.returncode for p in ranks]}")
        record = json.loads([text for text in outputs[0].splitlines() if text.startswith("{")][-1])
        record["bytes"] = sum(
            os.path.getsize(os.path.join(base, name))
            for base, _, names in os.walk(folder)
            for name in names
            if not name.endswith(".ring")
        )
        return record
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--pairs", type=int, default=10)
    options.add_argument("--size", choices=["tiny", "real"])
    options.add_argument("--rivals", action="store_true")
    options.add_argument("--diagnose", action="store_true")
    options.add_argument("--port", type=int, default=29671)
    options = options.parse_args()
    variants = ["bare", "plumbline"] + (["profiler", "memray"] if options.rivals else [])
    variants += ["diagnose"] if options.diagnose else []
    print("| job | variant | loop CPU s | ratio to bare (median, min, max) | process CPU ratio | loop time ratio | writer thread, share of a core | bytes written |")
    print("|---|---|---|---|---|---|---|---|")
    for size in [options.size] if options.size else ["tiny", "real"]:
        rounds = []
        for _ in range(options.pairs):
            order = random.sample(variants, len(variants))
            rounds.append({variant: measure(options, variant, size) for variant in order})
        for variant in variants:
            loops = [r[variant]["loop_cpu_s"] for r in rounds]
            ratio = [r[variant]["loop_cpu_s"] / r["bare"]["loop_cpu_s"] for r in rounds]
            whole = [r[variant]["process_cpu_s"] / r["bare"]["process_cpu_s"] for r in rounds]
            time = [r[variant]["loop_s"] / r["bare"]["loop_s"] for r in rounds]
            writer = statistics.median(r[variant]["writer_cpu_s"] / r[variant]["loop_s"] for r in rounds)
            print(
                f"| {size} | {variant} | {statistics.median(loops):.2f} | {statistics.median(ratio):.4f} "
                f"({min(ratio):.3f}, {max(ratio):.3f}) | {statistics.median(whole):.4f} "
                f"| {statistics.median(time):.3f} ({min(time):.3f}, {max(time):.3f}) | {writer:.2%} | {rounds[-1][variant]['bytes']} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
