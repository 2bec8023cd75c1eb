"""Ways of making a loss, each in a step of one recorded training, as the checks see them. See losses.py.

    check_losses.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_losses.md]
"""

import os
import re
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402

PAGE = """# Ways of making a loss that the checks are tried on

One training of two ranks (gloo, CPU), recorded at level `diagnose`, with another loss in each step; see `tests/faults/losses.py`. No
fault here raises an error. `open`: it may be meant, so the finding fails nothing. Silent are the checks `loss`, `optimizer` and `replicas`, and nothing is left open. The
table is made by `tests/faults/check_losses.py --write docs/faults_losses.md`, and the test `fault.losses` checks each row again.

| loss | found |
|---|---|
"""


def step_of(finding):
    return int(re.match(r"step (\d+),", finding["title"])[1])


def row(loss, found, problems):
    name, words, status = loss
    titles = [f"{by}: {finding['title']}" for by, finding in found]
    if not words:
        problems += [f"{name}: {title}" for title in titles]
        return f"| {name} (no fault) | {'**found**' if found else 'silent'} |"
    right = [finding for _, finding in found if words in finding["title"] and finding["status"] == status]
    # A finding of several steps would be that of other losses, too.
    alone = right and not any("captured steps" in detail for detail in right[0]["details"])
    if len(found) != 1 or not alone or right[0]["ranks"] != [0, 1]:
        problems.append(f"{name}: expected '{words}', {status}; found {found}")
        return f"| {name} | **no** |"
    said = right[0]["title"].split(": ", 1)[1]
    return f"| {name} | {'' if status == 'fail' else 'open: '}{said} |"


def main():
    options = trial.options()
    losses = trial.listed(
        options.python, "import json, losses; print(json.dumps([[l.name, l.words, l.status] for l in losses.LOSSES]))"
    )
    problems, found = [], []
    with tempfile.TemporaryDirectory(prefix="plumbline-losses-") as folder:
        directory = os.path.join(folder, "run")
        job = Job(os.path.join(trial.FAULTS, "losses.py"), (), launcher="torchrun", ranks=2)
        trial.record(options, job, directory, {"PLUMBLINE_LEVEL": "diagnose"})
        for check in ("loss", "optimizer", "replicas"):
            (verdict,) = trial.verdicts(options, check, directory)
            found += [(check, finding) for finding in verdict["findings"]]
            problems += [f"{check} leaves open: {text}" for text in verdict["unknown"]]
    page = PAGE
    for number, loss in enumerate(losses):
        page += row(loss, [one for one in found if step_of(one[1]) == number], problems) + "\n"
    trial.end(options, page, problems)


if __name__ == "__main__":
    main()
