"""A clean job of a framework, recorded at level diagnose: every check that has something to look at passes, and the rest says why it had nothing.

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

PASS = {"hang", "mismatch", "memory", "crash", "optimizer", "replicas", "loss", "data", "collective_results", "coverage"}
NOTHING = {"straggler", "load", "resume", "export"}  # too few steps; nothing was named to compare with


def main():
    options = trial.options()
    with tempfile.TemporaryDirectory(prefix="plumbline-checks-") as folder:
        directory = os.path.join(folder, "run")
        outcome = launch.run(options.python, Job("train_accelerate.py"), options.shim, directory, {"PLUMBLINE_LEVEL": "diagnose"})
        if outcome.status != 0:
            sys.exit(f"the job ended with {outcome.status}:\n{outcome.output}")
        done = subprocess.run([options.run_reader, "check", "--all", directory, "--json"], capture_output=True, text=True, check=False)
    verdicts = {verdict["check"]: verdict for verdict in json.loads(done.stdout)["verdicts"]}
    wanted = {name: "pass" for name in PASS} | {name: "not_evaluated" for name in NOTHING}
    problems = [
        f"{name}: expected {wanted.get(name)}, found {verdict['status']}: {verdict['reason']}"
        for name, verdict in verdicts.items()
        if verdict["status"] != wanted.get(name)
    ]
    problems += [f"{name} is missing" for name in wanted.keys() - verdicts.keys()]
    if done.returncode != 0:
        problems.append(f"check --all ends with {done.returncode}: {done.stderr}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
