"""Rows that a model cannot learn from, each found by its check; clean twins stay silent. See rows.py. And what it begins with against a
checkpoint of other names, which the run's template has.

    check_rows.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_rows.md]
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import Job  # noqa: E402

CHECKS = ("data", "loss", "optimizer")
PAGE = """# Rows that a model cannot learn from

Small trainings of one process, each with a launch of its own, recorded at level `diagnose`; see `tests/faults/rows.py`. No
fault here raises an error. The table is made by `tests/faults/check_rows.py --write docs/faults_rows.md`, and the test `fault.rows` checks each row again.

| training | check | caught | words |
|---|---|---|---|
"""
TEMPLATE = """
[names]
"embed.weight" = "model.embed_tokens.weight"
"head.*" = "lm_head.*"
"""


def said_of(options, name, folder):
    """check → (status, titles of its findings), of one recorded training."""
    directory = os.path.join(folder, name.replace(" ", "_"))
    originals, template = directory + ".originals", os.path.join(folder, "names.toml")
    os.mkdir(originals)
    job = Job(os.path.join(trial.FAULTS, "rows.py"), (name,), launcher="python", ranks=1, traces=1)
    environment = {"PLUMBLINE_LEVEL": "diagnose", "PLUMBLINE_TEMPLATE": template, "ROWS_ORIGINALS": originals}
    trial.record(options, job, directory, environment)
    said = {}
    for check in CHECKS:
        (verdict,) = trial.verdicts(options, check, directory)
        said[check] = (verdict["status"], [finding["title"] for finding in verdict["findings"]])
    load = [options.run_reader, "check", "load", directory, "--reference"]
    said["load"] = {
        reference: subprocess.run([*load, os.path.join(originals, reference)], capture_output=True, text=True, check=False)
        for reference in ("original.safetensors", "other.safetensors")
    }
    return said


def check_load(name, load, problems):
    right, wrong = load["original.safetensors"], load["other.safetensors"]
    if right.returncode != 0 or "all 3 tensors equal the original bit for bit" not in right.stdout:
        problems.append(f"{name}: load of the original says: {right.stdout}{right.stderr}")
    if wrong.returncode != 1 or "differ: lm_head.weight" not in wrong.stdout:
        problems.append(f"{name}: load of another original says: {wrong.stdout}{wrong.stderr}")


def row(case, said, expected, problems):
    name, check, words = case
    found = [(by, title) for by, (_, titles) in said.items() for title in titles]
    for by, title in found:
        if not any(by == other[1] and other[2] in title for other in expected):
            problems.append(f"{name}: {by} says: {title}")
    if not check:
        # Silent for having looked, and not for want of data.
        problems += [f"{name}: {by} is {status}" for by, (status, _) in said.items() if status != "pass"]
        return f"| {name} (no fault) | | {'**found**' if found else 'silent'} | |"
    title = next((title for title in said[check][1] if words in title), None)
    if title is None or said[check][0] != "fail":
        problems.append(f"{name}: expected '{words}' of {check}, found {said}")
    return f"| {name} | {check} | {'yes' if title else '**no**'} | {title or ''} |"


def main():
    options = trial.options()
    listed = trial.listed(
        options.python, "import json, rows; print(json.dumps([[c[0], type(c[1]).__name__, *c[2:]] for c in rows.CASES]))"
    )
    kinds = {kind: name for name, kind, _, _ in listed}
    page, problems = PAGE, []
    with tempfile.TemporaryDirectory(prefix="plumbline-rows-") as folder, ThreadPoolExecutor(2) as pool:
        with open(os.path.join(folder, "names.toml"), "w", encoding="utf-8") as file:
            file.write(TEMPLATE)
        runs = dict(zip(kinds, pool.map(lambda name: said_of(options, name, folder), kinds.values())))
    for name, said in runs.items():
        check_load(name, said.pop("load"), problems)
    for name, kind, check, words in listed:
        # Two faults of one training are told apart by their checks.
        expected = [(other[0], other[2], other[3]) for other in listed if other[1] == kind and other[2]]
        page += row((name, check, words), runs[kind], expected, problems) + "\n"
    trial.end(options, page, problems)


if __name__ == "__main__":
    main()
