"""What the preload object records of devices through CUPTI, on the stand-ins: check_device_work.py JOB SHIM RUN_READER"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import launch  # noqa: E402


def run(job, shim, mode, level, folder):
    environment = launch.environment(LD_PRELOAD=shim, PLUMBLINE_RUN=folder, PLUMBLINE_LEVEL=level)
    return subprocess.run([job, mode], env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()


def dump(run_reader, folder):
    printed = subprocess.run([run_reader, "dump", folder], stdout=subprocess.PIPE, check=False).stdout.decode()
    return [json.loads(line) for line in printed.splitlines()]


def works(lines):
    return [line for line in lines if line.get("kind") == "device_work"]


def hook(run_reader, folder):
    said = subprocess.run([run_reader, "summary", folder], stdout=subprocess.PIPE, check=False).stdout.decode()
    return "device work (CUPTI): " in said and said.split("device work (CUPTI): ")[1].splitlines()[0]


def check_plain(job, shim, run_reader, folder):
    run(job, shim, "plain", "diagnose", folder)
    lines = dump(run_reader, folder)
    found = [(work["work"], work["name"], work["bytes"], work["device"], work["stream"]) for work in works(lines)]
    expected = [
        ("kernel", "_Z6kernelPf", 0, 1, 7),
        ("copy", "copy", 4096, 1, 8),
        ("copy", "copy", 8192, 1, 8),
        ("memset", "memset", 64, 1, 8),
        ("kernel", "ncclDevKernel", 0, 1, 7),
    ]
    assert found == expected, found
    call = next(line for line in lines if line.get("kind") == "collective")
    assert [work["parent"] for work in works(lines)] == [0, 0, 0, 0, call["id"]], works(lines)
    assert works(lines)[0]["duration_ns"] == 5000
    assert all(call["time_ns"] <= work["time_ns"] for work in works(lines)[4:]), "not on the trace's clock"
    perfetto = os.path.join(folder, "trace.perfetto")
    subprocess.run([run_reader, "export", "--perfetto", folder, "-o", perfetto], check=True, stdout=subprocess.DEVNULL)
    with open(perfetto, "rb") as file:
        written = file.read()
    assert b"device 1, stream 7" in written and b"ncclDevKernel" in written


def check_profiler(job, shim, run_reader, folder):
    assert run(job, shim, "profiler", "diagnose", folder) == "2\n", "the profiler did not get its records"
    lines = dump(run_reader, folder)
    assert len(works(lines)) == 5, works(lines)
    assert "another profiler has taken CUPTI" in str(hook(run_reader, folder)), hook(run_reader, folder)


def check_watch(job, shim, run_reader, folder):
    assert run(job, shim, "profiler", "watch", folder) == "2\n"
    assert not works(dump(run_reader, folder))


def counted(run_reader, folder):
    lines = dump(run_reader, folder)
    lost = sum(line["events"].get("device_work", 0) for line in lines if line.get("record") == "dropped")
    details = [line.get("detail", "") for line in lines if line.get("record") == "hook" and "CUPTI" in line["name"]]
    dropped = [int(detail.split()[2]) for detail in details if detail.startswith("CUPTI dropped")]
    return len(works(lines)) + lost, sum(dropped)


def check_flood(job, shim, run_reader, folder):
    run(job, shim, "flood", "diagnose", folder)
    assert counted(run_reader, folder) == (200_005, 0), counted(run_reader, folder)


def check_flood_without_delivery(job, shim, run_reader, folder):
    """The buffers are bounded: what did not fit is counted."""
    os.environ["STANDIN_CUPTI_HOLD"] = "1"
    run(job, shim, "flood", "diagnose", folder)
    recorded, dropped = counted(run_reader, folder)
    assert recorded + dropped == 200_005 and dropped > 100_000, (recorded, dropped)


def main():
    for check in (check_plain, check_profiler, check_watch, check_flood, check_flood_without_delivery):
        with tempfile.TemporaryDirectory(prefix="plumbline-cupti-") as folder:
            check(*sys.argv[1:4], os.path.join(folder, "run"))


if __name__ == "__main__":
    main()
