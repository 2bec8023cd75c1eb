"""Optimizer steps under torch.compile: recorded where that changes nothing, and the same numbers bit for bit."""
import json
import os
import subprocess
import sys
import unittest

PROGRAM = """
import json, sys
sys.path.insert(0, {here!r})
import torch
from torch._dynamo.utils import counters
RECORDING = None
if sys.argv[1] == "recorded":
    from recording import Recording
    RECORDING = Recording()

class Plain(torch.optim.Optimizer):
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])

def compiled_model(model, optimizer):
    return torch.compile(model), [optimizer.step] * 3

def compiled_step(model, optimizer):
    return model, [torch.compile(optimizer.step)] * 3

def compiled_function(model, optimizer):
    return model, [torch.compile(lambda: optimizer.step())] * 3

def eager_then_compiled(model, optimizer):
    return model, [optimizer.step] + [torch.compile(optimizer.step)] * 2

def whole(model, optimizer):
    optimizer = Plain(model.parameters(), dict(lr=0.1))
    return model, [torch.compile(optimizer.step, fullgraph=True)] * 3

def train(case):
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.01))
    forward, steps = case(model, optimizer)
    for step in steps:
        model.zero_grad()
        forward(torch.ones(2, 4)).pow(2).sum().backward()
        step()
    records = RECORDING.take() if RECORDING else []
    return dict(parameters=[v.hex() for p in model.parameters() for v in p.flatten().tolist()],
                graphs=dict(counters["stats"]),
                steps=[r["name"] for r in records if r["kind"] == "step_begin"],
                counters=[r["step"] for r in records if r["kind"] == "step_group"],
                raised=[r["raised"] for r in records if r["kind"] == "step_end"])

cases = (compiled_model, compiled_step, compiled_function, eager_then_compiled, whole)
print("RESULT", json.dumps({{case.__name__: train(case) for case in cases}}))
"""


def run(mode):
    source = PROGRAM.format(here=os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, "-c", source, mode], capture_output=True, text=True, timeout=900)
    result = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert result, done.stderr
    return json.loads(result[0][len("RESULT "):]), done.stderr


class CompiledSteps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.alone, _ = run("alone")
        cls.watched, cls.errors = run("recorded")

    def test_nothing_is_said(self):
        self.assertNotIn("plumbline", self.errors)

    def test_the_numbers_and_the_graphs_are_the_same(self):
        for case, alone in self.alone.items():
            with self.subTest(case):
                self.assertEqual(self.watched[case]["parameters"], alone["parameters"])
                self.assertEqual(self.watched[case]["graphs"], alone["graphs"])

    def test_steps_of_torch_are_recorded(self):
        for case in ("compiled_model", "compiled_step", "compiled_function", "eager_then_compiled"):
            with self.subTest(case):
                watched = self.watched[case]
                self.assertEqual(watched["steps"], ["AdamW"] * 3)
                self.assertEqual(watched["counters"], [None, 1.0, 2.0])
                self.assertEqual(watched["raised"], [0] * 3)

    def test_a_step_that_is_compiled_whole_stays_whole(self):
        self.assertEqual(self.watched["whole"]["steps"], [])


if __name__ == "__main__":
    unittest.main()
