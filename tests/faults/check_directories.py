"""Run directories that hold more, less or other than one start of a job: a restart by torchrun, a second launch, captures
that are gone, cut off or another run's. What passes must say of which start, and nothing may pass on what is not there.

    check_directories.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "jobs"))
import trial  # noqa: E402
from jobs import JOBS, Job  # noqa: E402

OF_CAPTURES = ("optimizer", "replicas", "loss", "data", "collective_results")
OPEN = ("inconclusive", "not_evaluated")
DIAGNOSE = {"PLUMBLINE_LEVEL": "diagnose"}


class Judge:
    def __init__(self, given, folder):
        self.given, self.folder, self.problems = given, folder, []

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, job, name):
        trial.record(self.given, job, self.path(name), DIAGNOSE)

    def files(self, name, pattern="*"):
        return sorted(glob.glob(os.path.join(self.path(name), "captures", pattern)))

    def copy(self, of, name):
        shutil.copytree(self.path(of), self.path(name))
        return name

    def expect(self, holds, text):
        if not holds:
            self.problems.append(text)

    def verdicts(self, name, status):
        """Of all checks, by name."""
        command = [self.given.run_reader, "check", "--all", self.path(name), "--json"]
        said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)
        self.expect(said["exit_status"] == status, f"{name}: check ends with {said['exit_status']}, not with {status}")
        return {verdict["check"]: verdict for verdict in said["verdicts"]}

    def command(self, name, command, status, *words):
        ended = subprocess.run([self.given.run_reader, command, self.path(name)], stdout=subprocess.PIPE, check=False)
        text = " ".join(ended.stdout.decode().split())
        self.expect(ended.returncode == status, f"{name}: {command} ends with {ended.returncode}, not with {status}")
        for word in words:
            self.expect(word in text, f"{name}: {command} does not say '{word}': {text}")

    def passes(self, name, verdicts, *starts):
        """Each check of captures passes, and says so of each of these starts."""
        for check in OF_CAPTURES:
            verdict = verdicts[check]
            told = all(f"{start}: " in verdict["reason"] for start in starts)
            self.expect(verdict["status"] == "pass" and told, f"{name}: {check}: {verdict['status']}, {verdict['reason']}")

    def is_open(self, name, *words):
        """No check of captures passes, and each says why, in a sentence with these words."""
        verdicts = self.verdicts(name, 3)
        for check in (*OF_CAPTURES, "coverage"):
            verdict = verdicts.get(check, {"status": "not there", "unknown": []})
            self.expect(verdict["status"] in OPEN, f"{name}: {check}: {verdict['status']}")
            for word in words:
                told = [sentence for sentence in verdict["unknown"] if word in sentence]
                self.expect(len(told) == 1, f"{name}: {check}: {len(told)} sentences with '{word}': {verdict['unknown']}")
        return verdicts


def judge_restart(judge):
    judge.record(JOBS["restart"], "restart")
    verdicts = judge.verdicts("restart", 1)
    judge.passes("restart", verdicts, "attempt 0", "attempt 1")
    # The launcher may end rank 0 before it has seen that its peer is gone: then it died waiting, and nobody knows for whom.
    for check, statuses in {"hang": ("fail", "inconclusive"), "crash": ("fail",)}.items():
        titles = [finding["title"] for finding in verdicts[check]["findings"]]
        right = len(titles) == 1 and "attempt 0" in titles[0] and re.search("rank 1|ranks 0,1", titles[0])
        judge.expect(verdicts[check]["status"] in statuses and right, f"restart: {check}: {verdicts[check]}")
    for check in ("mismatch", "memory", "coverage"):
        judge.expect(verdicts[check]["status"] == "pass", f"restart: {check}: {verdicts[check]}")
    judge.command("restart", "verify", 0, "(rank 1): ", "(rank 1, attempt 1): ", "Nothing is lost.")
    judge.command("restart", "summary", 1, "4 processes of a world of 2", "2 attempts")

    # What the first attempt captured is gone, and that of the second in its place.
    (first,), (second,) = judge.files("restart", "rank1-a0-*"), judge.files("restart", "rank1-a1-*")
    name = judge.copy("restart", "restart-replaced")
    (gone,) = judge.files(name, "rank1-a0-*")
    shutil.copy(second, gone)
    verdicts = judge.verdicts(name, 1)
    for check in OF_CAPTURES:
        verdict = verdicts[check]
        told = [sentence for sentence in verdict["unknown"] if os.path.basename(first) in sentence]
        judge.expect(verdict["status"] in OPEN and len(told) == 1, f"{name}: {check}: {verdict}")


def judge_launches(judge):
    job = Job("train_ddp.py", ("--steps", "3"))
    judge.record(job, "one")
    judge.copy("one", "twice")
    judge.record(job, "twice")
    judge.passes("one", judge.verdicts("one", 0))
    verdicts = judge.verdicts("twice", 3)
    judge.passes("twice", verdicts, "launch 0", "launch 1")
    told = any("2 launches share this directory" in sentence for sentence in verdicts["coverage"]["unknown"])
    judge.expect(verdicts["coverage"]["status"] == "inconclusive" and told, f"twice: coverage: {verdicts['coverage']}")
    judge.command("twice", "verify", 0, "2 launches share this directory")
    judge.command("twice", "summary", 3, "2 launches share this directory")


def judge_captures(judge):
    (own,) = judge.files("one", "rank1-*")
    written = f"rank 1: the captures that it wrote to captures/{os.path.basename(own)} are not there"
    (other,) = set(map(os.path.basename, judge.files("twice", "rank1-*"))) - {os.path.basename(own)}
    other = os.path.join(judge.path("twice"), "captures", other)

    def damaged(name, change, *words):
        judge.copy("one", name)
        change(os.path.join(judge.path(name), "captures", os.path.basename(own)))
        verdicts = judge.is_open(name, *words)
        judge.command(name, "verify", 3, *words)
        return verdicts

    verdicts = damaged("deleted", os.remove, written)
    judge.expect(verdicts["replicas"]["status"] == "not_evaluated", f"deleted: replicas: {verdicts['replicas']}")
    damaged("cut", lambda file: os.truncate(file, os.path.getsize(file) // 2), "ends in the middle of a frame")
    damaged("swapped", lambda file: shutil.copy(other, file), "holds no trace; put it beside the traces", written)
    damaged("none", lambda file: shutil.rmtree(os.path.dirname(file)), written, "rank 0: the captures that it wrote to")
    judge.copy("one", "copied")
    shutil.copy(own, os.path.join(judge.path("copied"), "captures", "copy.plc"))
    same = [{c: v[c]["reason"] for c in OF_CAPTURES} for v in (judge.verdicts("one", 0), judge.verdicts("copied", 0))]
    judge.expect(same[0] == same[1], f"copied: {same[1]}, and without the copy {same[0]}")


def main():
    given = trial.options()
    with tempfile.TemporaryDirectory(prefix="plumbline-directories-") as folder:
        judge = Judge(given, folder)
        judge_restart(judge)
        judge_launches(judge)
        judge_captures(judge)
    print("\n".join(judge.problems))
    sys.exit(1 if judge.problems else 0)


if __name__ == "__main__":
    main()
