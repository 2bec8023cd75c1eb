"""Runs a job of many small trainings, each with an optimizer of its own, once under the shim at level diagnose, and says whether each of
its faults was found by the right check, at the step at which it acts and with its cause, and whether every right training stayed silent.

The job's module has a list CASES: of each name, training, and of a fault the check, the step at which it acts (-1: told as a remark) and
words of the finding's title. Case i is the optimizer of ordinal i.
"""

import os
import re
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402


def cases(python, module):
    """Of each case: name, check, step and words."""
    return trial.listed(python, f"import json, {module}; print(json.dumps([[c[0], *c[2:]] for c in {module}.CASES]))")


def findings(options, directory, checks):
    """By ordinal of the optimizer: check and title of each finding. The remarks, and the verdicts."""
    found, remarks, reasons = {}, [], []
    for check in checks:
        for verdict in trial.verdicts(options, check, directory):
            reasons.append(f"{check}: {verdict['reason']}")
            remarks += verdict["unknown"]
            for finding in verdict["findings"]:
                ordinal = int(re.search(r"optimizer (\d+)", finding["component"])[1])
                found.setdefault(ordinal, []).append((check, finding["title"]))
    return found, remarks, reasons


def row(case, found, remarks, margin, problems):
    name, check, step, words = case
    if not check:
        for by, title in found:
            problems.append(f"{name}: {by} says: {title}")
        return f"| {name} (no fault) | | {'**found**' if found else 'silent'} | | {margin} |"
    if step < 0:
        told = any(words in remark for remark in remarks)
        if not told:
            problems.append(f"{name}: expected the remark '{words}', found {remarks}")
        return f"| {name} | {check} | remark | {'yes' if told else '**no**'} | |"
    mine = [title for by, title in found if by == check and words in title]
    at_step = [title for title in mine if title.startswith(f"step {step},")]
    if not at_step:
        problems.append(f"{name}: expected '{words}' of {check} at step {step}, found {found}")
    return f"| {name} | {check} | {step if at_step else '**no**'} | {'yes' if mine else '**no**'} | |"


def run(module, page, checks, extra=None):
    """The whole program: `page` is the head of the table that --write puts into a file."""
    options = trial.options()
    problems = []
    with tempfile.TemporaryDirectory(prefix=f"plumbline-{module}-") as folder:
        directory = os.path.join(folder, "run")
        job = Job(os.path.join(trial.FAULTS, f"{module}.py"), launcher="torchrun", ranks=2)
        trial.record(options, job, directory, {"PLUMBLINE_LEVEL": "diagnose", **(extra or {})})
        found, remarks, reasons = findings(options, directory, checks)
        margins = trial.margins(options, directory)["optimizer"]
    for ordinal, case in enumerate(cases(options.python, module)):
        page += row(case, found.get(ordinal, []), remarks, trial.shown_margin(margins, [ordinal]), problems) + "\n"
    page += "\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    trial.end(options, page, problems)
