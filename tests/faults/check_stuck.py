"""Runs stuck.py without and with the shim: the losses are the same, and the stacks name the lines.

    check_stuck.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
JOBS = os.path.join(FOLDER, "..", "jobs")
SCRIPT = os.path.join(FOLDER, "stuck.py")
sys.path.insert(0, JOBS)
import launch  # noqa: E402
import trial  # noqa: E402
from jobs import Job  # noqa: E402

# What the innermost native frames of the training thread show.
NATIVE = {
    "queue": "PyThread_acquire_lock_timed",
    "native": "usleep",
    "io": "read",
    "lock": "PyThread_acquire_lock_timed",
    "sleep": "clock_nanosleep",
    "loop": "_PyEval_EvalFrameDefault",
}

WAIT_IS_OVER = 3_700_000_000  # nanoseconds of silence after which a look may come too late


def marked_lines():
    """Line numbers by what follows the mark, "queue" or "all_reduce"."""
    with open(SCRIPT) as file:
        lines = list(enumerate(file, 1))
    return {line.split(mark)[1].strip(): number for number, line in lines for mark in ("# stuck: ", "# waits: ") if mark in line}


def is_at(stack, line):
    return any(frame["file"].endswith("stuck.py") and frame["line"] == line for frame in stack["python"])


def native_stacks(stacks):
    """Names of functions, of those stacks that have any: a thread that was just woken, or that a busy machine keeps from
    running, is not interrupted, and of it there is none."""
    names = [[frame["function"] for frame in stack["native"]] for stack in stacks]
    return [frames for frames in names if frames]


def check_kind(kind, line, stacks, expect):
    looks = [stack for stack in stacks if stack["rank"] == 1 and stack["training_thread"]]
    seen = [stack for stack in looks if is_at(stack, line)]
    expect(seen, f"{kind}: no stack of rank 1 at line {line}, but {[stack['python'] for stack in looks]}")
    for stack in seen:
        holds = kind in ("native", "loop")
        expect(stack["holds_interpreter_lock"] == holds, f"{kind}: the interpreter lock is {'not ' * holds}held")
        expect("main" in [frame["function"] for frame in stack["python"]], f"{kind}: main is not on the Python stack")
    natives = native_stacks(seen)
    expect(natives, f"{kind}: rank 1 has no native stack")
    expect(kind == "loop" or len(natives) == len(seen), f"{kind}: a look at rank 1 has no native stack")
    for names in natives:
        expect(any(NATIVE[kind] in name for name in names), f"{kind}: {NATIVE[kind]} is not among {names}")


def check_stacks(options, directory, expect):
    said = subprocess.run([options.run_reader, "stacks", "--json", directory], stdout=subprocess.PIPE, check=True)
    stacks = json.loads(said.stdout)["stacks"]
    lines = marked_lines()
    waits = lines.pop("all_reduce")
    for kind, line in lines.items():
        check_kind(kind, line, stacks, expect)
    waiting = [stack for stack in stacks if stack["rank"] == 0 and stack["training_thread"]]
    waiting = [stack for stack in waiting if stack["detail"] < WAIT_IS_OVER]
    expect(waiting, "rank 0 was never looked at")
    for stack in waiting:
        expect(is_at(stack, waits), f"rank 0 does not wait at line {waits} after {stack['detail']} ns: {stack['python']}")
    natives = native_stacks(waiting)
    expect(2 * len(natives) > len(waiting), f"{len(natives)} of {len(waiting)} looks at rank 0 have a native stack")
    for names in natives:
        expect(any("c10d::Work::wait" in name for name in names), f"rank 0 is not inside Work::wait: {names}")
    threads = {stack["thread"] for stack in stacks}
    expect("pt_gloo_runloop" in threads, f"other threads are missing: {threads}")
    text = subprocess.run([options.run_reader, "stacks", directory], stdout=subprocess.PIPE, check=True).stdout.decode()
    expect(all(len(line) <= 100 for line in text.splitlines()), "a line is longer than 100 columns")


def main():
    options = trial.options()
    problems = []

    def expect(holds, text):
        if not holds:
            problems.append(text)

    job = Job(os.path.join("..", "faults", "stuck.py"), seconds=180)
    with tempfile.TemporaryDirectory(prefix="plumbline-stuck-") as folder:
        directory = os.path.join(folder, "run")
        bare = launch.run(options.python, job)
        shimmed = launch.run(options.python, job, options.shim, directory, {"PLUMBLINE_STALL_SECONDS": "2"})
        expect(shimmed.status == 0, f"exit status {shimmed.status} under the shim:\n{shimmed.output}")
        expect(len(bare.witnesses) == 2, "the job did not end without the shim")
        for key, witness in bare.witnesses.items():
            same = shimmed.witnesses.get(key, {}).get("losses") == witness["losses"]
            expect(same, f"rank {key[0]}: the losses differ from those without the shim")
        check_stacks(options, directory, expect)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
