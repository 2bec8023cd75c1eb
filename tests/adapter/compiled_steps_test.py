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

torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
x = torch.ones(2, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(0.01))
def train(step):
    optimizer.zero_grad()
    model(x).pow(2).sum().backward()
    step()
{body}
records = RECORDING.take() if RECORDING else []
from torch._dynamo.utils import counters
print("RESULT", json.dumps(dict(
    parameters=[v.hex() for p in model.parameters() for v in p.flatten().tolist()],
    graphs=dict(counters["stats"]),
    steps=[r["name"] for r in records if r["kind"] == "step_begin"],
    counters=[r["step"] for r in records if r["kind"] == "step_group"],
    raised=[r["raised"] for r in records if r["kind"] == "step_end"])))
"""

CASES = {
    "a compiled model": "model = torch.compile(model)\nfor _ in range(3): train(optimizer.step)",
    "a compiled step": "step = torch.compile(optimizer.step)\nfor _ in range(3): train(step)",
    "a compiled function around the step":
        "step = torch.compile(lambda: optimizer.step())\nfor _ in range(3): train(step)",
    "eager, then compiled":
        "train(optimizer.step)\nstep = torch.compile(optimizer.step)\nfor _ in range(2): train(step)",
    "whole":
        "optimizer = Plain(model.parameters(), dict(lr=0.1))\n"
        "step = torch.compile(optimizer.step, fullgraph=True)\nfor _ in range(3): train(step)",
}


def run(body, mode):
    source = PROGRAM.format(here=os.path.dirname(os.path.abspath(__file__)), body=body)
    done = subprocess.run([sys.executable, "-c", source, mode], capture_output=True, text=True, timeout=600)
    result = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert result, done.stderr
    return json.loads(result[0][len("RESULT "):]), done.stderr


class CompiledSteps(unittest.TestCase):
    def check(self, name, recorded):
        alone, _ = run(CASES[name], "alone")
        watched, errors = run(CASES[name], "recorded")
        self.assertEqual(watched["parameters"], alone["parameters"])
        self.assertEqual(watched["graphs"], alone["graphs"])
        self.assertNotIn("plumbline", errors)
        self.assertEqual(watched["steps"], ["AdamW"] * recorded)
        self.assertEqual(watched["counters"], [None, 1.0, 2.0][:recorded])
        self.assertEqual(watched["raised"], [0] * recorded)

    def test_a_compiled_model(self):
        self.check("a compiled model", 3)

    def test_a_compiled_step(self):
        self.check("a compiled step", 3)

    def test_a_compiled_function_around_the_step(self):
        self.check("a compiled function around the step", 3)

    def test_an_eager_step_first(self):
        self.check("eager, then compiled", 3)

    def test_a_step_that_must_be_compiled_whole_still_is(self):
        self.check("whole", 0)


if __name__ == "__main__":
    unittest.main()
