"""Ranges: names, nesting, threads, and ranges that another thread closes."""
import threading
import unittest

import torch
import torch.distributed as dist

from recording import Recording, of

RECORDING = Recording()


def pairs(records):
    """Begin and end of each range, by the order of their begins."""
    ends = {record["handle"]: record for record in of(records, "range_end")}
    return [(begin, ends.get(begin["handle"])) for begin in of(records, "range_begin")]


class Ranges(unittest.TestCase):
    def setUp(self):
        RECORDING.take()

    def test_nesting(self):
        with torch.profiler.record_function("outer"):
            with torch.profiler.record_function("first"):
                pass
            with torch.profiler.record_function("second"):
                pass
        found = pairs(RECORDING.take())
        self.assertEqual([(b["name"], b["depth"]) for b, _ in found], [("outer", 0), ("first", 1), ("second", 1)])
        for begin, end in found:
            self.assertEqual((begin["name"], begin["depth"]), (end["name"], end["depth"]))

    def test_an_exception_closes_the_range(self):
        for _ in range(2):
            with self.assertRaises(ValueError):
                with torch.profiler.record_function("left"):
                    raise ValueError
        self.assertEqual([(b["depth"], e["depth"]) for b, e in pairs(RECORDING.take())], [(0, 0), (0, 0)])

    def test_each_thread_has_its_own_depth(self):
        inside, done = threading.Event(), threading.Event()

        def hold():
            with torch.profiler.record_function("held"):
                inside.set()
                done.wait()

        thread = threading.Thread(target=hold)
        thread.start()
        inside.wait()
        with torch.profiler.record_function("other"):
            pass
        done.set()
        thread.join()
        found = {begin["name"]: begin for begin, _ in pairs(RECORDING.take())}
        self.assertEqual((found["held"]["depth"], found["other"]["depth"]), (0, 0))
        self.assertNotEqual(found["held"]["thread"], found["other"]["thread"])

    def test_a_range_that_a_future_closes_on_another_thread(self):
        future = torch.futures.Future()
        record = torch.profiler.record_function("asynchronous")
        record.__enter__()
        record._call_end_callbacks_on_future(future)
        with torch.profiler.record_function("meanwhile"):
            pass
        thread = threading.Thread(target=future.set_result, args=(1,))
        thread.start()
        thread.join()
        with torch.profiler.record_function("afterwards"):
            pass
        records = RECORDING.take()
        self.assertEqual([(b["name"], b["depth"]) for b, _ in pairs(records)],
                         [("asynchronous", 0), ("meanwhile", 1), ("afterwards", 0)])
        begin, end = pairs(records)[0]
        self.assertNotEqual(begin["thread"], end["thread"])

    def test_the_ranges_of_gloo_close(self):
        store = dist.HashStore()
        dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        try:
            for _ in range(5):
                dist.all_reduce(torch.ones(4))
        finally:
            dist.destroy_process_group()
        found = [(b, e) for b, e in pairs(RECORDING.take()) if b["name"] == "gloo:all_reduce"]
        self.assertEqual(len(found), 5)
        for _, end in found:
            self.assertIsNotNone(end)

    def test_phases_of_a_step(self):
        model = torch.nn.Linear(4, 2)
        loader = torch.utils.data.DataLoader(torch.ones(4, 4), batch_size=2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in loader:
            optimizer.zero_grad()
            model(batch).sum().backward()
        names = [begin["name"] for begin, _ in pairs(RECORDING.take())]
        self.assertEqual(names.count("Optimizer.zero_grad#SGD.zero_grad"), 2)
        self.assertEqual(sum(name.startswith("enumerate(DataLoader)#") for name in names), 3)

    def test_recording_that_begins_inside_a_range(self):
        RECORDING.record(False)
        with torch.profiler.record_function("unseen"):
            RECORDING.record(True)
            with torch.profiler.record_function("seen"):
                pass
        with torch.profiler.record_function("next"):
            pass
        found = pairs(RECORDING.take())
        self.assertEqual([(b["name"], b["depth"], e is not None) for b, e in found],
                         [("seen", 0, True), ("next", 0, True)])

    def test_the_profiler_sees_what_it_always_sees(self):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            with torch.profiler.record_function("profiled"):
                torch.ones(4).add_(1)
        self.assertIn("profiled", [event.name for event in profile.events()])
        self.assertIn("profiled", [begin["name"] for begin, _ in pairs(RECORDING.take())])


if __name__ == "__main__":
    unittest.main()
