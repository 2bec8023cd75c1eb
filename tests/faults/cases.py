"""Runs a job of many small trainings, each with an optimizer of its own, once under the shim at level diagnose, and says whether each of
its faults was found by the right check, at the step at which it acts and with its cause, and whether every right training stayed silent.

The job's module has a list CASES: of each name, training, and of a fault the check, the step at which it acts (-1: told as a remark) and
words of the finding's title. Case i is the optimizer of ordinal i.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import launch  # noqa: E402
from jobs import Job  # noqa: E402


def cases(python, module):
    """Of each case: name, check, step and words; the job's own list, read where torch is."""
    code = f"import json, {module}; print(json.dumps([[c[0], *c[2:]] for c in {module}.CASES]))"
    said = subprocess.run([python, "-c", code], cwd=FOLDER, stdout=subprocess.PIPE, check=True)
    return json.loads(said.stdout)


def findings(options, directory, checks):
    """By ordinal of the optimizer: check and title of each finding. The remarks, and the verdicts."""
    found, remarks, reasons = {}, [], []
    for check in checks:
        command = [options.run_reader, "check", check, directory, "--json"]
        said = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
        for verdict in json.loads(said)["verdicts"]:
            reasons.append(f"{check}: {verdict['reason']}")
            remarks += verdict["unknown"]
            for finding in verdict["findings"]:
                ordinal = int(re.search(r"optimizer (\d+)", finding["component"])[1])
                found.setdefault(ordinal, []).append((check, finding["title"]))
    return found, remarks, reasons


def row(case, found, remarks, problems):
    name, check, step, words = case
    if not check:
        for by, title in found:
            problems.append(f"{name}: {by} says: {title}")
        return f"| {name} (no fault) | | {'**found**' if found else 'silent'} | |"
    if step < 0:
        told = any(words in remark for remark in remarks)
        if not told:
            problems.append(f"{name}: expected the remark '{words}', found {remarks}")
        return f"| {name} | {check} | remark | {'yes' if told else '**no**'} |"
    mine = [title for by, title in found if by == check and words in title]
    at_step = [title for title in mine if title.startswith(f"step {step},")]
    if not at_step:
        problems.append(f"{name}: expected '{words}' of {check} at step {step}, found {found}")
    return f"| {name} | {check} | {step if at_step else '**no**'} | {'yes' if mine else '**no**'} |"


def run(module, page, checks, extra=None):
    """The whole program: `page` is the head of the table that --write puts into a file."""
    options = argparse.ArgumentParser()
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--run-reader", required=True)
    options.add_argument("--write", help="page of the documentation")
    options = options.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix=f"plumbline-{module}-") as folder:
        directory = os.path.join(folder, "run")
        job = Job(os.path.join("..", "faults", f"{module}.py"), launcher="torchrun", ranks=2)
        outcome = launch.run(options.python, job, options.shim, directory, {"PLUMBLINE_LEVEL": "diagnose", **(extra or {})})
        if outcome.status != 0:
            sys.exit(f"the job ended with {outcome.status}:\n{outcome.output}")
        found, remarks, reasons = findings(options, directory, checks)
    for ordinal, case in enumerate(cases(options.python, module)):
        page += row(case, found.get(ordinal, []), remarks, problems) + "\n"
    page += "\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    print(page)
    if options.write:
        with open(options.write, "w") as file:
            file.write(page)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
