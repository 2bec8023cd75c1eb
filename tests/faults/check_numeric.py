"""Runs numeric.py once under the shim at level diagnose, and says whether each of its faults was found by the right check, at the step at
which it acts, of the right parameter and ranks and with its cause, and whether every right training stayed silent.

    check_numeric.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_numeric.md] [NAME…]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import launch  # noqa: E402
from jobs import Job  # noqa: E402

PAGE = """# Silent faults of the numbers that the checks are tried on

Small trainings on two ranks (gloo, CPU), one after the other in one launch, recorded at level `diagnose`; see
`tests/faults/numeric.py` for each. No fault here raises an error. A fault counts as caught when the check finds it at the step at which it acts, names
the parameter (the first of several; none where it is of all) and the ranks, and tells its cause in words. `open`: it may be meant, so the finding
fails nothing. `margin` is the largest deviation over its bound of rounding, of the parameter that is named; what is compared bit
by bit, or counted, has none. Over all trainings the last lines say the least deviation of a fault, and the largest of what is right. The table is made by `tests/faults/check_numeric.py --write docs/faults_numeric.md`, and the test `fault.numeric` checks
each cell again.

| training | check | caught at step | parameter | ranks | margin |
|---|---|---|---|---|---|
"""


def entries(python, names):
    """The job's own list, read where torch is."""
    code = (
        "import json, sys, numeric; print(json.dumps([{**vars(e), 'optimizers': e.case.optimizers, 'steps': e.case.steps, "
        "'begin': numeric.FIRST_STEP if isinstance(e.case, numeric.Language) else 0, 'case': None} for e in numeric.chosen(sys.argv[1:])]))"
    )
    said = subprocess.run([python, "-c", code, *names], cwd=FOLDER, stdout=subprocess.PIPE, check=True)
    return json.loads(said.stdout)


def ordinal_of(component):
    """None: of a check that knows no optimizers."""
    found = re.search(r"optimizer (\d+)", component)
    return int(found[1]) if found else None


class Findings:
    """What the checks say of a run: findings by the ordinal of the optimizer, and reasons."""

    def __init__(self, options, directory):
        self.found, self.reasons = {}, []
        for check in ("optimizer", "replicas", "loss"):
            command = [options.run_reader, "check", check, directory, "--json"]
            said = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
            for verdict in json.loads(said)["verdicts"]:
                self.take(check, verdict)

    def take(self, check, verdict):
        self.reasons.append(f"{check}: {verdict['reason']}")
        for finding in verdict["findings"]:
            self.found.setdefault(ordinal_of(finding["component"]), []).append((check, finding))

    def of_steps(self, first, end):
        """Findings that belong to no optimizer, by the step at which they begin."""
        steps = [(int(re.match(r"step (\d+),", f["title"])[1]), (by, f)) for by, f in self.found.get(None, [])]
        return [found for step, found in steps if first <= step < end]


NUMBER = r"([-+0-9.e]+)"
WORST = re.compile(rf"the worst at \d+: {NUMBER}, expected {NUMBER} within {NUMBER}")


def margin_text(finding):
    """The deviation over its bound, where a finding tells both."""
    for detail in finding["details"]:
        if worst := WORST.search(detail):
            actual, expected, bound = map(float, worst.groups())
            return f"{abs(actual - expected) / bound:.2g}"
    return ""


def row(entry, found, problems):
    name, check, words, tensor, ranks = (entry[key] for key in ("name", "check", "words", "tensor", "ranks"))
    step = entry["step"]
    if not check:
        problems += [f"{name}: {by} says: {finding['title']}" for by, finding in found]
        return f"| {name} (no fault) | | {'**found**' if found else 'silent'} | | | |"
    mine = [finding for by, finding in found if by == check and words in finding["title"]]
    # "step 1, ranks 0,1: up.weight was updated …"
    begin = re.compile(rf"step {step}, [^:]*: {re.escape(tensor)}")
    right = [f for f in mine if begin.match(f["title"]) and f["ranks"] == ranks]
    if not right:
        seen = [(by, f["title"], f["ranks"]) for by, f in found]
        problems.append(f"{name}: expected '{words}' of {check} at step {step} of {tensor} on {ranks}, found {seen}")
        return f"| {name} | {check} | **no** | | | |"
    opened = ", open" if right[0]["status"] != "fail" else ""
    where = " ".join(str(rank) for rank in ranks)
    acts = step - entry["begin"]
    return f"| {name} | {check} | {acts}{opened} | {tensor} | {where} | {margin_text(right[0])} |"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--python", required=True)
    options.add_argument("--shim", required=True)
    options.add_argument("--run-reader", required=True)
    options.add_argument("--write", help="page of the documentation")
    options.add_argument("--keep", help="records the run there, and leaves it")
    options.add_argument("names", nargs="*", help="of trainings; none: all")
    options = options.parse_args()
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumbline-numeric-") as folder:
        directory = options.keep or os.path.join(folder, "run")
        job = Job(os.path.join("..", "faults", "numeric.py"), tuple(options.names), launcher="torchrun", ranks=2)
        outcome = launch.run(options.python, job, options.shim, directory, {"PLUMBLINE_LEVEL": "diagnose"})
        if outcome.status != 0:
            sys.exit(f"the job ended with {outcome.status}:\n{outcome.output}")
        said = Findings(options, directory)
    page, ordinal, begin = PAGE, 0, 0
    for entry in entries(options.python, options.names):
        found = []
        if entry["begin"]:
            # One optimizer counts the steps of all of these.
            ordinal, begin = ordinal + (begin == 0), begin or entry["begin"]
            found = said.of_steps(begin, begin + entry["steps"])
            entry["step"], entry["begin"] = entry["step"] + begin, begin
            begin += entry["steps"]
        mine = range(ordinal, ordinal + entry["optimizers"])
        ordinal += entry["optimizers"]
        found += [finding for each in mine for finding in said.found.get(each, [])]
        page += row(entry, found, problems) + "\n"
    page += "\n" + "\n".join(f"- {reason}" for reason in said.reasons) + "\n"
    print(page)
    if options.write:
        with open(options.write, "w") as file:
            file.write(page)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
