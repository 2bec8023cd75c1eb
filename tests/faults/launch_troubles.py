"""Runs jobs of troubles.py, with and without their fault, from one process that has imported torch once.

    launch_troubles.py FOLDER [NAME…]

Each rank is a fork of this process with the environment that a launcher gives it; FOLDER/NAME-faulty and NAME-clean are
the run directories. As a launcher does, it ends the other ranks when one has failed, and ends jobs that stand still.
Prints one line of JSON a job: its name and how each rank ended.
"""

import contextlib
import gc
import json
import mmap
import os
import signal
import struct
import sys
import time
from dataclasses import dataclass, field

import torch
import troubles

AT_ONCE = 6
STANDS_STILL = 6.0  # seconds without a step, nor any other work, until a job is ended; stalls are looked at after two
GRACE = 0.5  # between one rank's failure and the end that the others are given


@dataclass
class Run:
    name: str
    faulty: bool
    folder: str
    pids: list = field(default_factory=list)
    endings: dict = field(default_factory=dict)  # rank → exit status, negative: signal
    steps: mmap.mmap = None
    seen: tuple = ()
    changed: float = 0.0

    @property
    def label(self):
        return f"{self.name}-{'faulty' if self.faulty else 'clean'}"

    def start(self):
        """In a rank: the number of that rank; else None."""
        trouble = troubles.TROUBLES[self.name]
        world = trouble.ranks
        self.steps = mmap.mmap(-1, mmap.PAGESIZE)
        self.changed = time.monotonic()
        for rank in range(world):
            pid = os.fork()
            if pid == 0:
                become_rank(rank, world, os.path.join(self.folder, self.label), trouble)
                return rank
            self.pids.append(pid)
        return None

    def train(self, rank):
        done = 0

        def progress():
            nonlocal done
            done += 1
            self.steps[8 * rank : 8 * rank + 8] = struct.pack("Q", done)

        troubles.run(self.name, self.faulty, rank, os.path.join(self.folder, self.label + ".store"), progress)
        os._exit(0)  # the interpreter's own end takes longer than the job

    def poll(self):
        now = time.monotonic()
        for rank, pid in enumerate(self.pids):
            if rank not in self.endings:
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    self.endings[rank] = os.waitstatus_to_exitcode(status)
                    self.changed = now
        seen = self.steps[:64], sum(map(self.processor_time, range(len(self.pids))))
        if seen != self.seen:
            self.seen, self.changed = seen, now
        if any(self.endings.values()) and now - self.changed > GRACE:
            self.end_others(signal.SIGTERM)
        if now - self.changed > STANDS_STILL:
            self.end_others(signal.SIGKILL)
        return len(self.endings) == len(self.pids)

    def processor_time(self, rank):
        """Of a rank that still runs, in tenths of a second."""
        if rank in self.endings:
            return 0
        with open(f"/proc/{self.pids[rank]}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 10 // os.sysconf("SC_CLK_TCK")

    def end_others(self, number):
        for rank, pid in enumerate(self.pids):
            if rank not in self.endings:
                os.kill(pid, number)

    def report(self):
        print(json.dumps({"job": self.label, "endings": [self.endings[rank] for rank in range(len(self.pids))]}), flush=True)


def become_rank(rank, world, directory, trouble):
    if trouble.alone:
        with contextlib.suppress(PermissionError):  # its times are to be its own on a busy machine too
            os.nice(-20)
    os.environ.update(
        {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(world),
            "LOCAL_WORLD_SIZE": str(world),
            "PLUMBLINE_RUN": directory,
            **trouble.settings,
        }
    )
    output = os.open(directory + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)


def main():
    # The first optimizer imports what takes longer than all of these jobs' steps.
    torch.optim.AdamW([torch.nn.Parameter(torch.ones(1))])
    gc.collect()
    gc.freeze()  # or each rank's collector would copy all pages that it shares with this process
    folder, names = sys.argv[1], sys.argv[2:] or list(troubles.TROUBLES)
    waiting = [Run(name, faulty, folder) for name in names for faulty in (True, False)]
    # Those whose times matter come last, one by one.
    waiting.sort(key=lambda run: troubles.TROUBLES[run.name].alone)
    running = []
    while waiting or running:
        while waiting and len(running) < (1 if troubles.TROUBLES[waiting[0].name].alone else AT_ONCE):
            run = waiting.pop(0)
            rank = run.start()
            if rank is not None:
                return run.train(rank)
            running.append(run)
        for run in [run for run in running if run.poll()]:
            run.report()
            running.remove(run)
        time.sleep(0.02)
    return None


if __name__ == "__main__":
    main()
