"""A job whose level is switched off and on while it runs: the same losses, and events of the recorded parts alone.

    check_levels.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import subprocess
import sys
import tempfile
from collections import Counter

import launch
import trace
import trial
from jobs import Job

STEPS = 3  # of each of the three parts


def main():
    options = trial.options()
    problems = []

    def expect(holds, text):
        if not holds:
            problems.append(text)

    job = Job("train_levels.py", ranks=1, traces=1)
    with tempfile.TemporaryDirectory(prefix="plumbline-levels-") as directory:
        bare = launch.run(options.python, job)
        shimmed = launch.run(options.python, job, options.shim, directory)
        expect(bare.status == 0 and shimmed.status == 0, f"exit status {shimmed.status}:\n{shimmed.output}")
        expect(bare.witnesses[0, 0]["losses"] == shimmed.witnesses[0, 0]["losses"], "losses or profiled ranges differ")
        recorded = trace.read(options.run_reader, directory)[0, 0]
        calls = [call for call in recorded.calls() if call["op"] == "all_reduce"]
        expect(len(calls) == 2 * STEPS, f"{len(calls)} all_reduce calls are recorded")
        expect(set(recorded.outcomes()[call["id"]] for call in calls) == {"completed"}, "a call has not completed")
        expect(recorded.optimizer_steps() == {"AdamW": 2 * STEPS}, f"steps: {recorded.optimizer_steps()}")
        ranges = Counter(one["name"] for one in recorded.events["range_begin"])
        expect(ranges["part:first"] == ranges["part:last"] == STEPS, f"ranges: {ranges}")
        expect("part:unrecorded" not in ranges and "gloo:all_reduce" not in ranges, f"ranges: {ranges}")
        verified = subprocess.run([options.run_reader, "verify", directory], stdout=subprocess.PIPE, check=False)
        expect(verified.returncode == 0, f"run-reader verify: {verified.stdout.decode()}")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
