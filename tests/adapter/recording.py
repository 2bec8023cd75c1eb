"""Loads the adapter into this process under the recording host, and reads back what it recorded."""
import ctypes
import json
import os


class Recording:
    def __init__(self, host=None, adapter=None):
        self.host = ctypes.PyDLL(host or os.environ["PLUMBLINE_TEST_HOST"])
        self.host.host_load.restype = ctypes.c_char_p
        self.host.host_take.restype = ctypes.c_char_p
        problem = self.host.host_load((adapter or os.environ["PLUMBLINE_TEST_ADAPTER"]).encode())
        assert problem is None, problem

    def record(self, on):
        self.host.host_record(ctypes.c_bool(on))

    def take(self):
        return [json.loads(line) for line in self.host.host_take().decode().splitlines()]


def of(records, *kinds):
    return [record for record in records if record["kind"] in kinds]
