"""Pickles CUDA memory snapshots, as torch.cuda.memory._dump_snapshot writes them, of three jobs, and says whether
`run-reader diagnose` tells fragmentation from memory that is really full, and finds nothing in a job that got all it
asked for.

    check_snapshots.py --run-reader run-reader
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import trial  # noqa: E402

MIB = 1 << 20
SEGMENT, REQUEST = 64 * MIB, 24 * MIB
FRAMES = [{"name": "attend", "filename": "jobs/model.py", "line": 71}]


def snapshot(kept, fails):
    """A segment of 64 MiB whose 16 blocks of 4 MiB are freed but for those in `kept`; then a request of 24 MiB."""
    address = 0x7F0000000000
    blocks = [address + number * 4 * MIB for number in range(16)]
    events = [("segment_alloc", address, SEGMENT)]
    events += [("alloc", block, 4 * MIB) for block in blocks]
    for number, block in enumerate(blocks):
        if number not in kept:
            events += [("free_requested", block, 4 * MIB), ("free_completed", block, 4 * MIB)]
    trace = [
        {"action": action, "addr": place, "size": size, "stream": 0, "time_us": time, "frames": FRAMES}
        for time, (action, place, size) in enumerate(events, 1_000_000)
    ]
    if fails:
        trace.append({"action": "oom", "device_free": 2 * MIB, "size": REQUEST, "stream": 0, "time_us": 2_000_000, "frames": FRAMES})
    segment = {
        "device": 0,
        "address": address,
        "total_size": SEGMENT,
        "allocated_size": len(kept) * 4 * MIB,
        "active_size": len(kept) * 4 * MIB,
        "requested_size": len(kept) * 4 * MIB,
        "stream": 0,
        "segment_type": "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": FRAMES,
        "blocks": [
            {
                "address": block,
                "size": 4 * MIB,
                "requested_size": 4 * MIB,
                "state": "active_allocated" if number in kept else "inactive",
                "frames": FRAMES,
            }
            for number, block in enumerate(blocks)
        ],
    }
    return {"segments": [segment], "device_traces": [trace], "allocator_settings": {"expandable_segments": False}}


def diagnose(options, path):
    said = subprocess.run([options.run_reader, "diagnose", "--json", path], stdout=subprocess.PIPE, check=False)
    diagnosis = json.loads(said.stdout)
    return [one for verdict in diagnosis["verdicts"] if verdict["check"] == "memory" for one in verdict["findings"]]


def main():
    options = trial.options()
    # Every fourth block is kept: 48 MiB are free, in pieces of 12. Or all but two: 8 MiB are free.
    cases = {"fragmented": ({0, 4, 8, 12}, True), "full": (set(range(14)), True), "clean": ({0, 4, 8, 12}, False)}
    problems = []
    with tempfile.TemporaryDirectory(prefix="plumbline-snapshots-") as folder:
        for name, (kept, fails) in cases.items():
            path = os.path.join(folder, name + ".pickle")
            with open(path, "wb") as file:
                pickle.dump(snapshot(kept, fails), file, protocol=4)
            findings = diagnose(options, path)
            if not fails and findings:
                problems.append(f"{name}: {findings[0]['title']}")
            if fails and (len(findings) != 1 or "24.0 MiB failed" not in findings[0]["title"]):
                problems.append(f"{name}: {[one['title'] for one in findings]}")
            elif fails and ("for fragmentation" in findings[0]["title"]) != (name == "fragmented"):
                problems.append(f"{name}: {findings[0]['title']}")
            elif fails and "jobs/model.py:71" not in findings[0]["line"]:
                problems.append(f"{name}: the line is '{findings[0]['line']}'")
    print("\n".join(problems) or "fragmentation, full memory and a clean job are told apart")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
