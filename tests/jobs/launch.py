"""Runs a job of jobs.py once, with or without the shim, and gives back its exit status, output and witnesses; says with which variables."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

FOLDER = os.path.dirname(os.path.abspath(__file__))
ADAPTER = ("PLUMBLINE_CACHE", "PLUMBLINE_ADAPTER")


@dataclass
class Outcome:
    status: int
    output: str
    witnesses: dict  # (rank, attempt) → what the process wrote


def commands(python, job, folder):
    """The command lines of a job, started together: one, or one a host."""
    script = [os.path.join(FOLDER, job.script), *job.arguments]
    torchrun = [python, "-m", "torch.distributed.run", "--nproc-per-node"]
    if job.launcher == "python":
        return [[python, *script]]
    if job.launcher == "memray":
        return [[python, "-m", "memray", "run", "-q", "-o", os.path.join(folder, "memray.bin"), *script]]
    if job.launcher == "hosts":
        meeting = ["1", "--nnodes", "2", "--master-addr", Hosts.address(0), "--master-port", "29555", "--node-rank"]
        return [Hosts.enter(node) + torchrun + meeting + [str(node)] + script for node in range(2)]
    return [[*torchrun, str(job.ranks), "--standalone", *job.torchrun, *script]]


class Hosts:
    """Two network namespaces joined by a veth pair: two hosts as far as sockets can tell. Needs root."""

    prefix = f"plumbline{os.getpid() % 10000}"

    @classmethod
    def address(cls, node):
        return f"10.77.0.{node + 1}"

    @classmethod
    def enter(cls, node):
        return ["ip", "netns", "exec", f"{cls.prefix}n{node}"]

    @classmethod
    def __enter__(cls):
        link = [f"pl{os.getpid() % 10000}v{node}" for node in range(2)]
        for node in range(2):
            subprocess.run(["ip", "netns", "add", f"{cls.prefix}n{node}"], check=True)
        subprocess.run(["ip", "link", "add", link[0], "type", "veth", "peer", "name", link[1]], check=True)
        for node in range(2):
            subprocess.run(["ip", "link", "set", link[node], "netns", f"{cls.prefix}n{node}", "name", "eth0"], check=True)
            inside = cls.enter(node)
            subprocess.run([*inside, "ip", "addr", "add", f"{cls.address(node)}/24", "dev", "eth0"], check=True)
            for device in ("lo", "eth0"):
                subprocess.run([*inside, "ip", "link", "set", device, "up"], check=True)

    @classmethod
    def __exit__(cls, *_):
        for node in range(2):
            subprocess.run(["ip", "netns", "del", f"{cls.prefix}n{node}"], check=False)


class Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return None


def environment(**more):
    """What a job is started with: this process's variables without settings of Plumbline and what is preloaded. Where the
    adapter is stays."""
    kept = {k: v for k, v in os.environ.items() if k in ADAPTER or not (k.startswith("PLUMBLINE_") or k == "LD_PRELOAD")}
    return kept | {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"} | more


def run(python, job, shim=None, run_directory=None, extra=None):
    """One run. With `shim` (path of libplumbline.so) it is preloaded and records into `run_directory`."""
    folder = tempfile.mkdtemp(prefix="plumbline-witness-")
    variables = environment(TORCH_FR_BUFFER_SIZE="20000", WITNESS_DIR=folder)
    if job.launcher == "hosts":
        variables["GLOO_SOCKET_IFNAME"] = "eth0"
    variables |= job.environment | (extra or {})
    if shim:
        variables |= {"LD_PRELOAD": shim, "PLUMBLINE_RUN": run_directory}
    try:
        with Hosts() if job.launcher == "hosts" else Nothing():
            started = [
                subprocess.Popen(line, env=variables, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                for line in commands(python, job, folder)
            ]
            try:
                outputs = [process.communicate(timeout=job.seconds)[0].decode(errors="replace") for process in started]
            except subprocess.TimeoutExpired:
                for process in started:
                    process.kill()
                sys.exit(f"{job.script} did not end within {job.seconds} s")
        witnesses = {}
        for name in glob.glob(os.path.join(folder, "witness-*.json")):
            rank, attempt = os.path.basename(name)[len("witness-") : -len(".json")].split("-")
            with open(name) as file:
                witnesses[int(rank), int(attempt)] = json.load(file)
        return Outcome(max(abs(process.returncode) for process in started), "\n".join(outputs), witnesses)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
