"""Clean jobs, recorded at level diagnose: every check that has something to look at passes, and the rest says why it had nothing.

    check_checks.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import json
import os
import subprocess
import sys
import tempfile

import launch
import trial
from jobs import Job

# The checks that pass, of each job. The others have too few steps, or nothing that was named to compare with.
SEEN = {"hang", "mismatch", "memory", "crash", "optimizer", "loss", "data", "collective_results", "coverage"}
CLEAN = {
    "train_accelerate.py": SEEN | {"replicas"},
    "train_interleaved.py": SEEN,
    "train_tensor_parallel.py": SEEN | {"replicas"},
}


def problems_of(options, script, passes):
    with tempfile.TemporaryDirectory(prefix="plumbline-checks-") as folder:
        directory = os.path.join(folder, "run")
        outcome = launch.run(options.python, Job(script), options.shim, directory, {"PLUMBLINE_LEVEL": "diagnose"})
        if outcome.status != 0:
            sys.exit(f"{script} ended with {outcome.status}:\n{outcome.output}")
        done = subprocess.run([options.run_reader, "check", "--all", directory, "--json"], capture_output=True, text=True, check=False)
    problems = []
    verdicts = json.loads(done.stdout)["verdicts"]
    for verdict in verdicts:
        wanted = "pass" if verdict["check"] in passes else "not_evaluated"
        if verdict["check"] == "optimizer" and verdict["unknown"]:
            problems.append(f"{script}, optimizer: not all updates were looked at: {verdict['unknown']}")
        if verdict["status"] != wanted:
            problems.append(f"{script}, {verdict['check']}: expected {wanted}, found {verdict['status']}: {verdict['reason']}")
    problems += [f"{script}: {name} is missing" for name in passes - {verdict["check"] for verdict in verdicts}]
    if done.returncode != 0:
        problems.append(f"{script}: check --all ends with {done.returncode}: {done.stderr}")
    return problems


def main():
    options = trial.options()
    problems = [problem for script, passes in CLEAN.items() for problem in problems_of(options, script, passes)]
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
