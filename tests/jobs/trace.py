"""A run's events as the tests want them, from `run-reader dump`."""

import json
import subprocess
from collections import Counter, defaultdict


class Trace:
    """One process: `info` is its process line, `events` its event lines by kind, `hooks` what each hook counted."""

    def __init__(self, info):
        self.info = info
        self.rank = info["rank"]
        self.attempt = info["attempt"]
        self.events = defaultdict(list)
        self.hooks = []
        self.dropped = {}

    def calls(self):
        """Collectives as the job called them: what one call does inside is not counted again."""
        return [call for call in self.events["collective"] if not call.get("parent")]

    def outcomes(self):
        """How each collective ended, by id; one that never ended is missing."""
        return {mark["id"]: mark["outcome"] for mark in self.events["collective_end"]}

    def optimizer_steps(self):
        return Counter(step["optimizer_class"] for step in self.events["step_begin"])


def read_all(run_reader, run_directory):
    """All traces of a run."""
    output = subprocess.run([run_reader, "dump", run_directory], stdout=subprocess.PIPE, check=False)
    traces = []
    for line in output.stdout.splitlines():
        record = json.loads(line)
        kind = record["record"]
        if kind == "process":
            traces.append(Trace(record))
        elif kind == "event":
            traces[-1].events[record["kind"]].append(record)
        elif kind == "hook":
            traces[-1].hooks.append(record)
        elif kind == "dropped":
            traces[-1].dropped = record["events"]
    return traces


def read(run_reader, run_directory):
    """All traces of a run, by (rank, attempt). A run must not hold two traces of one rank and attempt."""
    traces = {}
    for trace in read_all(run_reader, run_directory):
        key = trace.rank, trace.attempt
        if key in traces:
            raise SystemExit(f"two traces of rank {key[0]}, attempt {key[1]} in {run_directory}")
        traces[key] = trace
    return traces


def read_by_pid(run_reader, run_directory):
    """All traces of a directory, by process: many launches may share it."""
    return {trace.info["pid"]: trace for trace in read_all(run_reader, run_directory)}
