"""Compares what the shim reads of an interpreter's frames with what the interpreter says itself.

    frames_test.py libpython_frames_probe.so
"""

import ctypes
import dis
import inspect
import itertools
import sys
import threading
import types
import unittest

PATH = sys.argv.pop(1)
WITH_LOCK = ctypes.PyDLL(PATH)
probe = ctypes.CDLL(PATH)  # its functions run without the interpreter lock
WITH_LOCK.probe_verify.restype = ctypes.c_char_p
OUTCOME = WITH_LOCK.probe_verify().decode()
if not OUTCOME.startswith("read "):
    sys.exit(OUTCOME)
for library in (probe, WITH_LOCK):
    library.probe_holds_lock.restype = ctypes.c_bool
probe.probe_stack.restype = ctypes.c_bool
probe.probe_line.argtypes = [ctypes.py_object, ctypes.c_long]
probe.probe_site.restype = probe.probe_text_id.restype = ctypes.c_ulong
probe.probe_torn_looks.argtypes = [ctypes.c_uint, ctypes.c_int, ctypes.c_bool, ctypes.c_char_p]
probe.probe_stack.argtypes = [ctypes.c_char_p, ctypes.c_ulong]

QUALIFIED = sys.version_info >= (3, 11)


def name_of(code):
    return code.co_qualname if QUALIFIED else code.co_name


def seen_stack():
    buffer = ctypes.create_string_buffer(1 << 16)
    assert probe.probe_stack(buffer, len(buffer))
    return buffer.value.decode().splitlines()


def own_stack(frame):
    lines = []
    while frame is not None:
        lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {name_of(frame.f_code)}")
        frame = frame.f_back
    return lines


def text_id(text):
    return probe.probe_text_id(text.encode())


def line_starts(code):
    if sys.version_info >= (3, 10):
        for begin, end, line in code.co_lines():
            yield from ((offset, line or 0) for offset in range(begin, end, 2))
    else:
        for offset, line in dis.findlinestarts(code):
            yield offset, line


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


class Nested:
    def call(self, function):
        return function()


class FramesTest(unittest.TestCase):
    def test_a_stack(self):
        seen = Nested().call(lambda: seen_stack())
        own = own_stack(sys._getframe())
        self.assertEqual(seen[-len(own) + 1 :], own[1:])
        self.assertTrue(seen[0].endswith("seen_stack"), seen)
        self.assertIn("lambda", seen[1])
        self.assertTrue(seen[2].endswith("Nested.call" if QUALIFIED else " call"), seen)

    def test_a_generator_and_a_comprehension(self):
        def numbers():
            yield seen_stack()

        seen = [stack for stack in numbers()][0]
        self.assertTrue(any("numbers" in line for line in seen), seen)
        self.assertIn("test_a_generator_and_a_comprehension", "".join(seen))

    def test_every_line_of_large_modules(self):
        checked = 0
        for module in (argparse_source(), unittest.case, threading, inspect, dis):
            code = compile(inspect.getsource(module), module.__file__, "exec")
            for part in codes_in(code):
                for offset, line in line_starts(part):
                    self.assertEqual(probe.probe_line(part, offset), line, (part, offset))
                    checked += 1
        self.assertGreater(checked, 3000)

    def test_names_beyond_ascii(self):
        for name in ("größe", "число", "数", "𝒳"):
            scope = {"seen_stack": seen_stack}
            exec(compile(f"def f():\n\n  return seen_stack()", f"/tmp/{name}.py", "exec"), scope)
            self.assertEqual(scope["f"]()[1], f"/tmp/{name}.py:3 f")

    def test_a_thread_that_runs_generators_is_seen_whole(self):
        end = False

        def spin():
            any(end for _ in itertools.count())

        thread = threading.Thread(target=spin)
        thread.start()
        try:
            for interrupts in (True, False):
                self.assertEqual(probe.probe_torn_looks(thread.native_id, 2000, interrupts, b"spin"), 0)
        finally:
            end = True
            thread.join()

    def test_the_lock(self):
        self.assertTrue(WITH_LOCK.probe_holds_lock())
        self.assertFalse(probe.probe_holds_lock())


class CallSiteTest(unittest.TestCase):
    def test_the_same_place_has_the_same_id(self):
        ids = {probe.probe_site() for _ in range(100)}
        line = sys._getframe().f_lineno - 1
        name = name_of(sys._getframe().f_code)
        if sys.version_info < (3, 12):  # a comprehension has a frame of its own up to then
            name = name + ".<locals>.<setcomp>" if QUALIFIED else "<setcomp>"
        self.assertEqual(ids, {text_id(f"{__file__}:{line} in {name}")})

    def test_two_lines_of_a_function_are_two_places(self):
        def calls():
            first = probe.probe_site()
            second = probe.probe_site()
            return first, second

        for _ in range(3):
            first, second = calls()
            self.assertNotEqual(first, second)

    def test_a_reused_code_address_gives_the_new_line(self):
        addresses = set()
        for round_ in range(2000):
            source = "\n" * (round_ % 7) + f"def f():\n  return site()\n"
            scope = {"site": probe.probe_site}
            exec(compile(source, f"/tmp/file{round_ % 3}.py", "exec"), scope)
            addresses.add(id(scope["f"].__code__))
            expected = f"/tmp/file{round_ % 3}.py:{round_ % 7 + 2} in f"
            self.assertEqual(scope["f"](), text_id(expected), expected)
            del scope
        self.assertLess(len(addresses), 2000)  # some were used again

    def test_torchs_own_files_are_passed_over(self):
        scope = {"site": probe.probe_site}
        exec(compile("def f():\n  return site()", "<eval_with_key>.7", "exec"), scope)
        seen = scope["f"]()
        line = sys._getframe().f_lineno - 1
        self.assertEqual(seen, text_id(f"{__file__}:{line} in {name_of(sys._getframe().f_code)}"))

    def test_each_thread_has_its_own(self):
        seen = []
        threads = [threading.Thread(target=lambda: seen.append(probe.probe_site())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(seen)), 1)
        self.assertNotEqual(seen[0], 0)


def argparse_source():
    import argparse

    return argparse


if __name__ == "__main__":
    unittest.main()
