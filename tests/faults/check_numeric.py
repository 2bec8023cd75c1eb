"""Runs numeric.py once under the shim at level diagnose, and says whether each of its faults was found by the right check, at the step at
which it acts, of the right parameter and ranks and with its cause, and whether every right training stayed silent.

    check_numeric.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_numeric.md] [NAME…]
"""

import os
import re
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402

PAGE = """# Silent faults of the numbers that the checks are tried on

Small trainings on two ranks (gloo, CPU), one after the other in one launch, recorded at level `diagnose`; see
`tests/faults/numeric.py` for each. No fault here raises an error. A fault counts as caught when the check finds it at the step at which it acts, names
the parameter (the first of several; none where it is of all) and the ranks, and tells its cause in words. `open`: it may be meant, so the finding
fails nothing. `margin`: of a fault the largest deviation over its bound of
rounding, of the parameter that is named; of a right training the largest of all that was recomputed. What is compared bit by bit, or counted, has none. `remark`: told
beside the findings, and fails nothing. In brackets: the share of entries of bfloat16 weights that an update leaves as they are, next to what is
expected of normal weights of 0.02. The table is made by `tests/faults/check_numeric.py --write docs/faults_numeric.md`, and the test `fault.numeric` checks
each cell again.

| training | check | caught at step | parameter | ranks | margin |
|---|---|---|---|---|---|
"""


def entries(python, names):
    code = (
        "import json, sys, numeric; print(json.dumps([{**vars(e), 'optimizers': e.case.optimizers, 'steps': e.case.steps, "
        "'begin': numeric.FIRST_STEP if isinstance(e.case, numeric.Language) else 0, 'case': None} for e in numeric.chosen(sys.argv[1:])]))"
    )
    return trial.listed(python, code, *names)


def ordinal_of(component):
    """None: of a check that knows no optimizers."""
    found = re.search(r"optimizer (\d+)", component)
    return int(found[1]) if found else None


class Findings:
    """What the checks say of a run: findings by the ordinal of the optimizer, and reasons."""

    def __init__(self, options, directory):
        self.found, self.remarks, self.reasons = {}, {}, []
        self.margins = trial.margins(options, directory)
        for check in ("optimizer", "replicas", "loss"):
            for verdict in trial.verdicts(options, check, directory):
                self.take(check, verdict)

    def take(self, check, verdict):
        self.reasons.append(f"{check}: {verdict['reason']}")
        for remark in verdict["unknown"]:
            self.remarks.setdefault(ordinal_of(remark), []).append((check, remark))
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


SHARE = re.compile(rf"{NUMBER} % of the entries")


def lost(entry, text, problems):
    """The share of entries that did not change, as told; it must be the expected one, as exactly as a sample of them can be."""
    told, expected = float(SHARE.search(text)[1]) / 100, entry["lost"]
    if abs(told - expected) > 3 * (expected * (1 - expected) / entry["entries"]) ** 0.5 + 0.0005:
        problems.append(f"{entry['name']}: {told:.1%} of the entries are told, {expected:.1%} expected: {text}")
    return f" ({told:.1%}; {expected:.1%})"


def row(entry, found, remarks, margin, problems):
    name, check, words, tensor, ranks = (entry[key] for key in ("name", "check", "words", "tensor", "ranks"))
    step = entry["step"]
    if not check or entry["remark"]:
        problems += [f"{name}: {by} says: {finding['title']}" for by, finding in found]
    if not check:
        doubts = [remark for by, remark in remarks if entry["entries"] and words in remark]
        problems += [f"{name}: {doubt}" for doubt in doubts]
        return f"| {name} (no fault) | | {'**found**' if found else 'silent'} | | | {margin} |"
    if entry["remark"]:
        told = [remark for by, remark in remarks if by == check and words in remark and f"in step {step} of" in remark]
        if len(told) != 1:
            problems.append(f"{name}: expected the remark '{words}' of {check}, found {remarks}")
            return f"| {name} | {check} | **no** | | | |"
        return f"| {name} | {check} | {step}, remark{lost(entry, told[0], problems)} | | | |"
    mine = [finding for by, finding in found if by == check and words in finding["title"]]
    # "step 1, ranks 0,1: up.weight was updated …"
    begin = re.compile(rf"step {step}, [^:]*: {re.escape(tensor)}")
    right = [f for f in mine if begin.match(f["title"]) and f["ranks"] == ranks]
    if not right:
        seen = [(by, f["title"], f["ranks"]) for by, f in found]
        problems.append(f"{name}: expected '{words}' of {check} at step {step} of {tensor} on {ranks}, found {seen}")
        return f"| {name} | {check} | **no** | | | |"
    note = ", open" if right[0]["status"] != "fail" else ""
    if entry["lost"]:
        note += lost(entry, right[0]["title"], problems)
    where = " ".join(str(rank) for rank in ranks)
    acts = step - entry["begin"]
    return f"| {name} | {check} | {acts}{note} | {tensor} | {where} | {margin_text(right[0])} |"


def main():
    options = trial.options(
        ("--keep", {"help": "records the run there, and leaves it"}),
        ("names", {"nargs": "*", "help": "of trainings; none: all"}),
    )
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumbline-numeric-") as folder:
        directory = options.keep or os.path.join(folder, "run")
        job = Job(os.path.join(trial.FAULTS, "numeric.py"), tuple(options.names), launcher="torchrun", ranks=2, seconds=500)
        template = os.path.join(FOLDER, "heads.toml")
        trial.record(options, job, directory, {"PLUMBLINE_LEVEL": "diagnose", "PLUMBLINE_TEMPLATE": template})
        said = Findings(options, directory)
    page, ordinal, begin = PAGE, 0, 0
    for entry in entries(options.python, options.names):
        found, margin = [], ""
        if entry["begin"]:
            # One optimizer counts the steps of all of these.
            ordinal, begin = ordinal + (begin == 0), begin or entry["begin"]
            steps = range(begin, begin + entry["steps"])
            found = said.of_steps(steps[0], steps[-1] + 1)
            margin = trial.shown_margin(said.margins["loss"], steps)
            entry["step"], entry["begin"] = entry["step"] + begin, begin
            begin += entry["steps"]
        mine = range(ordinal, ordinal + entry["optimizers"])
        ordinal += entry["optimizers"]
        found += [finding for each in mine for finding in said.found.get(each, [])]
        remarks = [remark for each in mine for remark in said.remarks.get(each, [])]
        margin = margin or trial.shown_margin(said.margins["optimizer"], mine)
        page += row(entry, found, remarks, margin, problems) + "\n"
    page += "\n" + "\n".join(f"- {reason}" for reason in said.reasons) + "\n"
    trial.end(options, page, problems)


if __name__ == "__main__":
    main()
