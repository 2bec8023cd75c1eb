"""Runs the jobs of troubles.py, faulty and clean, and says whether `run-reader diagnose` names each fault, and nothing else.

    check_troubles.py --python PYTHON --shim libplumbline.so --run-reader run-reader [NAME…] [--write TABLE.md]

Prints a table of what was right. With --write that table is also written as a page of the documentation.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

from expected import EXPECTED

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import launch  # noqa: E402
import trial  # noqa: E402

SCRIPT = "troubles.py"
COLUMNS = ("verdict", "rank", "operation", "line", "clean twin")

PAGE = """# Faults that `run-reader diagnose` is tried on

Each row is a job of two to four ranks (gloo, CPU), run once with the fault and once without it, recorded at level
`watch`; see `tests/faults/troubles.py` for the faulty lines. A job that stands still is killed, as a scheduler would
do, and diagnosed from the traces that are left. `yes` means that the diagnosis names exactly what the script has
marked: the ranks to blame and no other, the operation and its group, the line of the script. The clean twin is right
when nothing at all is found in it. A dash: nothing in the traces could tell it (a process that SIGKILL ends has no
last word).

The table is made by `tests/faults/check_troubles.py --write docs/faults.md`, and the test `fault.troubles` checks
each cell again.

Fragmentation is a fault of CUDA's caching allocator, which no job without a GPU has: `fault.snapshots` tries it on
memory snapshots of a fragmented, a full and a clean allocator. Memory limits are set as `RLIMIT_AS`.

"""


@dataclass
class Judged:
    """One row: by column "yes", "no" or "-", and what was said where it is "no"."""

    cells: dict = field(default_factory=dict)
    said: list = field(default_factory=list)

    def judge(self, column, holds, said=""):
        self.cells[column] = "yes" if holds else "no"
        if not holds:
            self.said.append(f"{column}: {said}")


def marked_lines():
    """Line numbers by mark and name: ("fault", "leak") and the like."""
    lines = {}
    with open(os.path.join(FOLDER, SCRIPT)) as file:
        for number, line in enumerate(file, 1):
            for mark in ("fault", "waits"):
                if f"# {mark}: " in line:
                    lines[mark, line.split(f"# {mark}: ")[1].strip()] = number
    return lines


def diagnose(options, directory):
    said = subprocess.run([options.run_reader, "diagnose", "--json", directory], stdout=subprocess.PIPE, check=False)
    return said.returncode, json.loads(said.stdout)


def names_line(name, expected, line, lines):
    mark = lines.get((expected.line, name)) or lines[expected.line, "gradients"]
    return f"/{SCRIPT}:{mark} " in line


def judge_fault(options, name, expected, lines, row, folder):
    status, diagnosis = diagnose(options, os.path.join(folder, name + "-faulty"))
    root = diagnosis["root"]
    if root is None:
        return row.judge("verdict", False, f"exit status {status}, nothing found")
    found = [one for one in diagnosis["verdicts"] if one["check"] == root["check"]][0]["findings"][root["finding"]]
    said = f"{root['check']}: {root['title']}"
    fails = root["status"] == "fail" and status == expected.exit_status
    told = any(expected.says in words for words in [found["title"], *found["details"]])
    row.judge("verdict", fails and told and root["check"] == expected.check, f"{root['status']}, {said}: {found['details']}")
    row.cells["rank"] = row.cells["operation"] = row.cells["line"] = "-"
    if expected.ranks is not None:
        row.judge("rank", tuple(sorted(root["ranks"])) == expected.ranks, f"ranks {root['ranks']}: {said}")
    if expected.operation:
        named = root["descent"]["operation"] + " " + found["operation"]
        right = expected.operation in named and expected.group in (found["group"], "")
        row.judge("operation", right, f"{named} of {found['group']}: {said}")
    if expected.line:
        line = root["descent"]["line"]
        row.judge("line", names_line(name, expected, line + " ", lines), f"'{line}': {said}")
    return None


def judge_twin(options, name, row, folder):
    status, diagnosis = diagnose(options, os.path.join(folder, name + "-clean"))
    findings = [one["title"] for verdict in diagnosis["verdicts"] for one in verdict["findings"]]
    row.judge("clean twin", status == 0 and not findings, f"exit status {status}: {findings}")


def run_jobs(options, names, folder):
    """Runs the jobs; gives how the ranks of each ended."""
    variables = {"LD_PRELOAD": options.shim, "PLUMBLINE_RUN": os.path.join(folder, "launcher"), "PLUMBLINE_STALL_SECONDS": "2"}
    command = [options.python, os.path.join(FOLDER, "launch_troubles.py"), folder, *names]
    with open(os.path.join(folder, "launcher.log"), "w") as log:
        said = subprocess.run(command, env=launch.environment(**variables), stdout=subprocess.PIPE, stderr=log, text=True, check=True).stdout
    return {one["job"]: one["endings"] for one in map(json.loads, said.splitlines())}


def table(rows):
    lines = ["| fault | check | " + " | ".join(COLUMNS) + " |", "|" + "---|" * (len(COLUMNS) + 2)]
    for name, row in rows.items():
        cells = [row.cells.get(column, "no") for column in COLUMNS]
        lines.append(f"| {EXPECTED[name].fault} | {EXPECTED[name].check} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def summary(rows):
    counts = []
    for column in COLUMNS:
        cells = [row.cells.get(column, "no") for row in rows.values()]
        counts.append(f"{column} {cells.count('yes')} of {len(cells) - cells.count('-')}")
    return "Right: " + ", ".join(counts) + ".\n"


def judge(options, names, lines):
    """Runs the jobs and judges each: the rows by name."""
    rows = {}
    with tempfile.TemporaryDirectory(prefix="plumbline-troubles-") as folder:
        endings = run_jobs(options, names, folder)
        for name in names:
            row = rows[name] = Judged()
            judge_fault(options, name, EXPECTED[name], lines, row, folder)
            judge_twin(options, name, row, folder)
            if any(endings[name + "-clean"]):
                row.said.append(f"the clean twin's ranks ended with {endings[name + '-clean']}")
    return rows


def main():
    options = trial.options(("names", {"nargs": "*", "default": list(EXPECTED)}))
    lines = marked_lines()
    rows = judge(options, options.names, lines)
    for _ in range(2):
        # What a busy machine did to a slow job may hide whose doing it was: it says so, and is run again.
        unclear = [name for name, row in rows.items() if EXPECTED[name].check == "straggler" and row.said]
        rows |= judge(options, unclear, lines) if unclear else {}
    problems = [f"{name}: {said}" for name, row in rows.items() for said in row.said]
    print(table(rows), summary(rows), sep="\n")
    if options.write:
        with open(options.write, "w") as page:
            page.write(PAGE + table(rows) + "\n" + summary(rows))
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
