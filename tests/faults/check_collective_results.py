"""Runs collective_faults.py under the shim, at level diagnose and with what level watch takes of each step, and says whether the check
collective_results found each fault, at its step, on the right ranks and with its cause, and stayed silent otherwise.

    check_collective_results.py --python PYTHON --shim libplumbline.so --run-reader run-reader --wrong wrong_results.so
"""

import os
import re
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402

PAGE = """# Wrong results of collectives that the check is tried on

Collectives of two gloo ranks, a case an optimizer step, in one launch; see `tests/faults/collective_faults.py`. A library in front of the
shim changes what gloo has left, below everything that the job or c10d could see. `yes`: found at its step, on the ranks whose
results are wrong, with its cause in words. At level `watch` only the first steps and every 200th are looked at, here all of them; a step's
share of the elements is smaller, and `by hashes` says that only the hashes of all ranks' results showed the fault. `margin`: of right reductions the largest deviation over its bound, at level diagnose; what is only moved is compared bit by bit, and has none. The table is made by `tests/faults/check_collective_results.py --write docs/faults_collectives.md`, and
the test `fault.collective_results` checks each cell again.

| case | diagnose | watch | margin |
|---|---|---|---|
"""
APART = "differs from rank to rank"
LEVELS = {
    "diagnose": {"PLUMBLINE_LEVEL": "diagnose"},
    "watch": {"PLUMBLINE_LEVEL": "watch", "PLUMBLINE_CAPTURE_STEPS": "all"},
}


def cases(python):
    """Name, words and ranks of each."""
    return trial.listed(python, "import json, collective_faults as job; print(json.dumps([[c[0], *c[2:]] for c in job.CASES]))")


def verdict_of(options, environment):
    """What the check says, and how close right results are to their bound, by step."""
    with tempfile.TemporaryDirectory(prefix="plumbline-collectives-") as folder:
        directory = os.path.join(folder, "run")
        job = Job(os.path.join(trial.FAULTS, "collective_faults.py"))
        trial.record(options, job, directory, environment, f"{options.wrong}:{options.shim}")
        (verdict,) = trial.verdicts(options, "collective_results", directory)
        factors = [row["detail"]["factor"] for row in trial.captures(options, directory) if "factor" in (row["detail"] or {})]
        if factors != [0.25] * 4:
            sys.exit(f"factors of scaled parts are captured as {factors}")
        return verdict, trial.margins(options, directory)["collective_results"]


def cell(level, name, words, ranks, found, problems):
    if not words:
        for finding in found:
            if finding["status"] == "fail":
                problems.append(f"{level}, {name}: {finding['title']}")
        return "**found**" if any(finding["status"] == "fail" for finding in found) else "silent"
    failed = [f for f in found if f["status"] == "fail"]
    right = [f for f in failed if words in f["title"] and f["ranks"] == ranks]
    if not right and level == "watch" and any(APART in f["title"] for f in failed):
        return "by hashes"
    lines = right and any("collective_faults.py:" in detail for detail in right[0]["details"])
    if not lines:
        problems.append(f"{level}, {name}: expected '{words}' of ranks {ranks}, found {[f['title'] for f in found]}")
    return "yes" if lines else "**no**"


def main():
    options = trial.options(("--wrong", {"required": True}))
    rows, reasons, problems = {}, [], []
    listed = cases(options.python)
    for level, environment in LEVELS.items():
        verdict, margins = verdict_of(options, environment)
        reasons += [f"{level}: {verdict['reason']}", *(f"{level}: {remark}" for remark in verdict["unknown"])]
        found = {}
        for finding in verdict["findings"]:
            found.setdefault(int(re.match(r"step (\d+)", finding["title"])[1]), []).append(finding)
        for step, (name, words, ranks) in enumerate(listed):
            margin = "" if words else trial.shown_margin(margins, [step])
            row = rows.setdefault(name, (words, [], margin))
            row[1].append(cell(level, name, words, ranks, found.get(step, []), problems))
    page = PAGE
    for name, (words, cells, margin) in rows.items():
        page += f"| {name}{'' if words else ' (no fault)'} | {' | '.join(cells)} | {margin} |\n"
    page += "\n" + "\n".join(f"- {reason}" for reason in reasons) + "\n"
    trial.end(options, page, problems)


if __name__ == "__main__":
    main()
