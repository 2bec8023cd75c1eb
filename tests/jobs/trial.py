"""What the programs that try the checks on recorded jobs have in common: options, a recording, what run-reader says of it, the table."""

import argparse
import json
import os
import subprocess
import sys

import launch

FAULTS = os.path.join("..", "faults")


def options(*further):
    """The options of a job test; `further` are (name, keywords) of more."""
    parser = argparse.ArgumentParser()
    for name in ("--python", "--shim", "--run-reader"):
        parser.add_argument(name, required=True)
    parser.add_argument("--write", help="page of the documentation")
    for name, keywords in further:
        parser.add_argument(name, **keywords)
    return parser.parse_args()


def listed(python, code, *arguments):
    """What a piece of Python prints as JSON: a job's own list of cases, read where torch is."""
    folder = os.path.join(launch.FOLDER, FAULTS)
    said = subprocess.run([python, "-c", code, *arguments], cwd=folder, stdout=subprocess.PIPE, check=True)
    return json.loads(said.stdout)


def record(given, job, directory, environment, shim=None):
    """Runs the job under the shim. A job that fails ends the test."""
    outcome = launch.run(given.python, job, shim or given.shim, directory, environment)
    if outcome.status != 0:
        sys.exit(f"{job.script} {' '.join(job.arguments)} ended with {outcome.status}:\n{outcome.output}")


def verdicts(given, check, *arguments):
    """The verdicts of one check, as `run-reader check --json` has them."""
    command = [given.run_reader, "check", check, *arguments, "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)["verdicts"]


def captures(given, directory):
    """All captures of a run, as dump_captures has them."""
    program = os.path.join(os.path.dirname(given.run_reader), "dump_captures")
    lines = subprocess.run([program, directory], stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return [json.loads(line) for line in lines]


def margins(given, directory):
    """How close the checks' judgement was to their bounds: {check: {ordinal or step: largest deviation over its bound}}."""
    program = os.path.join(os.path.dirname(given.run_reader), "margins")
    said = subprocess.run([program, directory], stdout=subprocess.PIPE, check=True).stdout
    return {check: {int(place): margin for place, margin in found.items()} for check, found in json.loads(said).items()}


def shown_margin(found, places):
    """Of the largest of some; empty where nothing was compared with a bound."""
    known = [found[place] for place in places if place in found]
    return f"{max(known):.2f}" if known else ""


def end(given, page, problems):
    """Shows the table, writes it where --write says, and ends the program: with 1 where there are problems."""
    print(page)
    if given.write:
        with open(given.write, "w", encoding="utf-8") as file:
            file.write(page)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
