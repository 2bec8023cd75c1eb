"""Runs resumed.py: a training that is not interrupted, and some that go on from its checkpoints. `run-reader check resume` must say of
each what was not restored, both from what the load wrote and from the first resumed step, and nothing of the right one.

    check_resumed.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_resume.md]
"""

import os
import re
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402

PAGE = """# Resumed trainings that the check is tried on

A training of one process saves after 8 steps and after 1000, and is not interrupted; others go on from there (`tests/faults/resumed.py`), with
AdamW, a schedule, dropout and an epoch in an order drawn at its beginning. `run-reader check resume RUN --reference RUN` compares what
the load wrote with what was saved, and the first steps bit by bit. Layers have another beta2 each. `update`: the first update after
the resume next to the uninterrupted one's, for beta2 of 0.95, 0.98 and 0.999; beside it what the bias corrections give: (1 - 0.9^t) / 0.1 ·
sqrt((1 - beta2) / (1 - beta2^t)) of t steps in all. The table is made by `tests/faults/check_resumed.py --write docs/faults_resume.md`, and the test
`fault.resumed` checks each cell again.

| resumed | of the load | of the first step | update | computed |
|---|---|---|---|---|
"""
BETAS = (0.95, 0.98, 0.999)
# What is left out, how resumed.py calls it, the step of the checkpoint, and words about the load and the first step.
CASES = [
    ("", "right", 8, "", ""),
    ("the optimizer's state", "moments", 8,
     "after resume exp_avg/exp_avg_sq are absent and there is no step while the file has them (10 of 10 state tensors, step 8)",
     "goes on from another state of the optimizer: its first update is lr·sign(g)"),
    ("step counters, after 1000 steps", "step", 1000, "step is 0 after the resume, 1000 at the save",
     "goes on from another state of the optimizer"),
    ("the random state", "rng", 8, "", "computes other logits from the same rows and parameters: the random state"),
    ("the position in the data", "rows", 8, "", "reads other rows: the position in the data was not restored"),
]  # fmt: skip


def computed(steps):
    """The first update after a reset of the step counters over the right one."""
    total = steps + 1
    return [(1 - 0.9**total) / (1 - 0.9) * ((1 - b) / (1 - b**total)) ** 0.5 for b in BETAS]


def shown(numbers):
    return " ".join(f"{number:.3f}" for number in numbers)


def row(case, verdict, problems):
    name, way, step, of_load, of_step = case
    titles = [finding["title"] for finding in verdict["findings"]]
    where = f"step 0 (step {step} of the reference), "
    first = [f for f in verdict["findings"] if f["title"].startswith(where) and of_step and of_step in f["title"]]
    load = [title for title in titles if of_load and of_load in title]
    expected = (1 if of_load else 0) + (1 if of_step else 0)
    if len(titles) != expected or len(first) + len(load) != expected or verdict["status"] != ("fail" if expected else "pass"):
        problems.append(f"{way}: {verdict['status']}: {verdict['reason']}; {titles}")
    details = " ".join(first[0]["details"]) if first and way == "step" else ""
    update = [float(found) for found in re.findall(r"the update of group \d+ \(beta2 [0-9.]+\) is (\S+) times", details)]
    right = computed(step) if way == "step" else []
    if len(update) != len(right) or any(abs(a / b - 1) > 0.005 for a, b in zip(update, right)):
        problems.append(f"{way}: the updates are {update}, not {right}: {details}")
    if right and not all(f"{number:.3f}" in load[0] for number in right):
        problems.append(f"{way}: the finding does not tell of {shown(right)}: {load}")
    cells = ["yes" if load else "", "yes" if first else "", shown(update), shown(right)]
    return f"| all but {name}" if expected else "| everything (no fault)", cells


def main():
    given = trial.options()
    problems, page = [], PAGE
    with tempfile.TemporaryDirectory(prefix="plumbline-resumed-") as folder:

        def recorded(way, steps):
            directory = os.path.join(folder, way)
            job = Job(os.path.join(trial.FAULTS, "resumed.py"), (way, folder), launcher="python", ranks=1, seconds=400)
            trial.record(given, job, directory, {"PLUMBLINE_LEVEL": "diagnose", "PLUMBLINE_CAPTURE_STEPS": steps})
            return directory

        reference = recorded("whole", "8-10,1000-1002")
        for case in CASES:
            (verdict,) = trial.verdicts(given, "resume", recorded(case[1], "0-2"), "--reference", reference)
            head, cells = row(case, verdict, problems)
            page += f"{head} | {' | '.join(cells)} |\n"
    trial.end(given, page, problems)


if __name__ == "__main__":
    main()
