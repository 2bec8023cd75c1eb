"""`plumbline check-collectives` over a real launcher: two gloo ranks pass, and a wrong all-reduce is named.

    check_collectives.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import os
import subprocess
import sys

import launch
import trial


def main():
    options = trial.options()
    plumbline = os.path.join(os.path.dirname(options.run_reader), "plumbline")
    launcher = [options.python, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone", "train.py"]

    def check(**more):
        return subprocess.run(
            [plumbline, "check-collectives", "--", *launcher],
            env=launch.environment(**more),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    problems = []
    clean = check()
    if clean.returncode != 0 or "\npass: every result is as it should be; 2,6" not in "\n" + clean.stdout:
        problems.append(f"clean: {clean.returncode}\n{clean.stdout}{clean.stderr}")
    faulty = check(PYTHONPATH=os.path.join(launch.FOLDER, "faulty_reduce"))
    lines = faulty.stdout.splitlines()
    named = [line for line in lines if line.startswith("rank 1: all_reduce sum of 1023 bfloat16 over ranks 0,1: element 1022")]
    innocent = [line for line in lines if line.startswith("rank ") and ("rank 1: all_reduce" not in line or "bfloat16" not in line)]
    if faulty.returncode != 1 or len(named) != 1 or innocent:
        problems.append(f"faulty: {faulty.returncode}\n{faulty.stdout}{faulty.stderr}")
    for text in problems:
        print(text)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
