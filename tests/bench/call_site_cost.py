"""What finding the line of Python that made a call costs, beside torch's own way of doing so. With the job's Python:

    call_site_cost.py libpython_frames_probe.so

Prints nanoseconds a call, the least of many rounds, less an empty call through ctypes for ours.
"""

import ctypes
import sys
import time

from torch._C._profiler import gather_traceback

ROUNDS, CALLS = 50, 2000


def least(function):
    """Nanoseconds of one call in the quickest round."""
    rounds = []
    for _ in range(ROUNDS):
        before = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        rounds.append((time.perf_counter_ns() - before) / CALLS)
    return min(rounds)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: call_site_cost.py libpython_frames_probe.so")
    sys.exit(None if measure(sys.argv[1]) else "the frames of this Python are not read")


def measure(path):
    with_lock = ctypes.PyDLL(path)
    with_lock.probe_verify.restype = ctypes.c_char_p
    if not with_lock.probe_verify().startswith(b"read "):
        return False
    probe = ctypes.CDLL(path)
    ours = least(probe.probe_site) - least(probe.probe_nothing)
    torchs = least(lambda: gather_traceback(python=True, script=False, cpp=False))
    print(f"call site {ours:.0f} ns, torch's traceback {torchs:.0f} ns: {torchs / ours:.1f} times as much")
    return True


if __name__ == "__main__":
    main()
