"""What the adapter notes of a process: the exception that ends it; and that it refuses a torch that is not its own."""
import os
import subprocess
import sys
import unittest

PROLOGUE = """
import sys
sys.path.insert(0, {here!r})
import torch
from recording import Recording
RECORDING = Recording()
import atexit
atexit.register(lambda: [print("NOTED", r["type"], "|", r["message"]) for r in RECORDING.take()
                         if r["kind"] == "exception"])
"""


def run(body):
    """Standard output lines and standard error of a program that ends with `body`."""
    source = PROLOGUE.format(here=os.path.dirname(os.path.abspath(__file__))) + body
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout.splitlines(), done.stderr


class Process(unittest.TestCase):
    def test_class_and_first_line(self):
        status, out, err = run("raise ValueError('boom at 7\\nsecond line')")
        self.assertEqual(status, 1)
        self.assertEqual(out, ["NOTED ValueError | boom at 7"])
        self.assertEqual(err.splitlines()[-2:], ["ValueError: boom at 7", "second line"])

    def test_where_it_was_raised(self):
        _, out, _ = run("""
import atexit
atexit.register(lambda: [print(r["value"]) for r in RECORDING.take() if r.get("key") == "exception.stack"])
class Loader:
    def read(self):
        raise ValueError("no such shard")
def deep(depth):
    deep(depth - 1) if depth else Loader().read()
deep(40)""")
        entries = out[0].split(" < ")
        self.assertEqual([entry.split(" in ")[1] for entry in entries], ["Loader.read"] + ["deep"] * 15)
        self.assertTrue(all(entry.startswith("<string>:") for entry in entries), out)

    def test_a_hook_of_the_job_is_still_called(self):
        status, out, err = run("""
shown = sys.excepthook
def mine(kind, value, trace):
    print("MINE", kind.__name__)
    shown(kind, value, trace)
sys.excepthook = mine
raise KeyError("k")""")
        self.assertEqual(status, 1)
        self.assertEqual(out, ["MINE KeyError", "NOTED KeyError | 'k'"])
        self.assertIn("KeyError: 'k'", err)

    def test_an_exception_whose_text_raises(self):
        status, out, _ = run("""
class Sick(Exception):
    def __str__(self):
        raise RuntimeError("no text")
raise Sick""")
        self.assertEqual((status, out), (1, ["NOTED Sick | "]))

    def test_a_clean_end_notes_nothing(self):
        self.assertEqual(run("pass")[:2], (0, []))
        self.assertEqual(run("sys.exit(3)")[:2], (3, []))

    def test_an_error_of_torch(self):
        status, out, _ = run("torch.ones(2) @ torch.ones(3)")
        self.assertEqual(status, 1)
        self.assertTrue(out[0].startswith("NOTED RuntimeError | "), out)

    def test_an_adapter_for_another_torch_refuses(self):
        source = """
import ctypes, os, sys
sys.path.insert(0, {here!r})
import torch
from recording import adapter_path
host = ctypes.PyDLL(os.environ["ADAPTER_TEST_HOST"])
host.host_load.restype = ctypes.c_char_p
for version in (b"1.0.0", torch.__version__.encode()):
    host.host_set_torch_version(version)
    print(host.host_load(adapter_path().encode()))
""".format(here=os.path.dirname(os.path.abspath(__file__)))
        done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout.splitlines(), ["b'the adapter refused'", "None"], done.stderr)


if __name__ == "__main__":
    unittest.main()
