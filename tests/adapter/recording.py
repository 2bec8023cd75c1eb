"""Loads the adapter into this process under the recording host, and reads back what it recorded."""
import ctypes
import json
import os
import subprocess
import sys


def adapter_path():
    """The adapter of this interpreter's torch, from the cache."""
    command = [os.environ["ADAPTER_TEST_COMMAND"], "build-adapter", "--python", sys.executable]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


class Recording:
    def __init__(self):
        self.host = ctypes.PyDLL(os.environ["ADAPTER_TEST_HOST"])
        self.host.host_load.restype = ctypes.c_char_p
        self.host.host_take.restype = ctypes.c_char_p
        problem = self.host.host_load(adapter_path().encode())
        assert problem is None, problem

    def record(self, on):
        self.host.host_record(ctypes.c_bool(on))

    def wish(self, full_bytes=0, samples=0, hashed=False, statistics=False):
        """How much of each probe is captured from here on, at every step; nothing without arguments."""
        self.host.host_wish(
            ctypes.c_uint64(full_bytes), ctypes.c_uint64(samples), ctypes.c_bool(hashed), ctypes.c_bool(statistics)
        )

    def take(self):
        return [json.loads(line) for line in self.host.host_take().decode().splitlines()]


def of(records, *kinds):
    return [record for record in records if record["kind"] in kinds]
