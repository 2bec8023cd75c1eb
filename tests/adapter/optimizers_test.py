"""Every optimizer class that torch has, and every way of stepping one: the records equal what Python itself counts."""
import threading
import unittest

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from recording import Recording, of

torch.manual_seed(0)
RECORDING = Recording()
STEPS = 3

# Arguments that make a class step once per call on dense CPU parameters.
SPECIAL = {"LBFGS": None, "SparseAdam": None, "Muon": dict(lr=0.01)}


class Seen:
    """What a Python hook of the job sees at each step."""

    def __init__(self):
        self.steps = []
        self.handle = register_optimizer_step_pre_hook(self)

    def __call__(self, optimizer, args, kwargs):
        groups = []
        for group in optimizer.param_groups:
            params = list(group["params"])
            lead = next((p for p in params if p.grad is not None), params[0] if params else None)
            state = optimizer.state[lead] if lead in optimizer.state else {}
            betas = group.get("betas", (None, None))
            groups.append(dict(
                params=len(params), params_with_grad=sum(p.grad is not None for p in params),
                elements=sum(p.numel() for p in params), lr=number(group.get("lr")),
                weight_decay=number(group.get("weight_decay")), beta1=number(betas[0]), beta2=number(betas[1]),
                eps=number(group.get("eps")), momentum=number(group.get("momentum")),
                step=number(state.get("step"))))
        self.steps.append((type(optimizer).__name__, id(optimizer), groups))


def number(value):
    if isinstance(value, torch.Tensor):
        return float(value.item()) if value.numel() == 1 else None
    return float(value) if isinstance(value, (int, float)) else None


def recorded_steps(records):
    """(class, optimizer, groups, raised) of each step, in the order in which they began."""
    groups, ends = {}, {}
    for record in of(records, "step_group"):
        groups.setdefault(record["handle"], []).append(record)
    for record in of(records, "step_end"):
        ends[record["handle"]] = record
    return [(begin, groups.get(begin["handle"], []), ends[begin["handle"]]) for begin in of(records, "step_begin")]


class Optimizers(unittest.TestCase):
    def setUp(self):
        self.seen = Seen()
        RECORDING.take()

    def tearDown(self):
        self.seen.handle.remove()

    def check(self, count=None):
        steps = recorded_steps(RECORDING.take())
        self.assertEqual(len(steps), len(self.seen.steps))
        if count is not None:
            self.assertEqual(len(steps), count)
        for (begin, groups, end), (name, optimizer, expected) in zip(steps, self.seen.steps):
            self.assertEqual(begin["name"], name)
            self.assertEqual(end["optimizer"], optimizer)
            self.assertEqual(len(groups), len(expected))
            for index, (group, wanted) in enumerate(zip(groups, expected)):
                self.assertEqual(group["index"], index)
                self.assertEqual(group["optimizer"], optimizer)
                self.assertEqual(group["key"], end["key"])
                for key, value in wanted.items():
                    self.assertEqual(group[key], value, f"{name} group {index}: {key}")
        return steps

    def train(self, optimizer, loss, steps=STEPS):
        for _ in range(steps):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()

    def test_every_class(self):
        classes = [c for c in vars(torch.optim).values()
                   if isinstance(c, type) and issubclass(c, torch.optim.Optimizer) and c is not torch.optim.Optimizer]
        self.assertGreater(len(classes), 12)
        for kind in classes:
            options = SPECIAL.get(kind.__name__, {})
            if options is None:
                continue
            with self.subTest(kind.__name__):
                self.seen.steps.clear()
                weight = torch.nn.Parameter(torch.ones(3, 4))
                bias = torch.nn.Parameter(torch.ones(2, 2))
                optimizer = kind([{"params": [weight]}, {"params": [bias], "lr": 0.25}], **options)
                self.train(optimizer, lambda: (weight.sum() + bias.sum()) ** 2)
                self.check(STEPS)

    def test_variants(self):
        for options in (dict(foreach=True), dict(fused=True), dict(foreach=False), dict(capturable=False, amsgrad=True),
                        dict(lr=torch.tensor(0.125)), dict(lr=torch.tensor(0.125, dtype=torch.float64))):
            with self.subTest(str(options)):
                self.seen.steps.clear()
                weight = torch.nn.Parameter(torch.ones(3, 4))
                if isinstance(options.get("lr"), torch.Tensor):
                    options["foreach"] = False
                self.train(torch.optim.AdamW([weight], **options), lambda: (weight ** 2).sum())
                self.check(STEPS)

    def test_sparse_gradients(self):
        table = torch.nn.Embedding(8, 4, sparse=True)
        optimizer = torch.optim.SparseAdam(table.parameters())
        self.train(optimizer, lambda: table(torch.tensor([1, 2])).sum())
        self.check(STEPS)

    def test_closure_with_forward_and_backward_inside(self):
        weight = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.LBFGS([weight], max_iter=2)

        def closure():
            optimizer.zero_grad()
            loss = (weight ** 2).sum()
            loss.backward()
            return loss

        for _ in range(STEPS):
            optimizer.step(closure)
        records = RECORDING.take()
        steps = recorded_steps(records)
        self.assertEqual(len(steps), STEPS)
        zero = [r for r in of(records, "range_begin") if "zero_grad" in r["name"]]
        self.assertGreaterEqual(len(zero), STEPS)

    def test_nested_optimizers_keep_their_depth(self):
        weight = torch.nn.Parameter(torch.ones(4))

        class Container(torch.optim.Optimizer):
            def __init__(self, inner):
                self.inner = inner
                super().__init__([weight], {})

            def step(self, closure=None):
                self.inner.step()

        optimizer = Container(torch.optim.SGD([weight], lr=0.1))
        self.train(optimizer, lambda: (weight ** 2).sum())
        steps = self.check(2 * STEPS)
        self.assertEqual([begin["name"] for begin, _, _ in steps], ["Container", "SGD"] * STEPS)
        self.assertEqual([begin["depth"] for begin, _, _ in steps], [0, 1] * STEPS)

    def test_a_step_in_the_backward_pass(self):
        weights = [torch.nn.Parameter(torch.ones(2)) for _ in range(4)]
        optimizers = {w: torch.optim.SGD([w], lr=0.1) for w in weights}

        def hook(weight):
            optimizers[weight].step()
            optimizers[weight].zero_grad()

        for weight in weights:
            weight.register_post_accumulate_grad_hook(hook)
        for _ in range(STEPS):
            sum(w.sum() for w in weights).backward()
        steps = self.check(len(weights) * STEPS)
        self.assertEqual(len({end["key"] for _, _, end in steps}), len(weights))

    def test_a_step_that_raises(self):
        weight = torch.nn.Parameter(torch.ones(4))

        class Failing(torch.optim.Optimizer):
            def step(self, closure=None):
                raise RuntimeError("no")

        failing = Failing([weight], {})
        with self.assertRaisesRegex(RuntimeError, "^no$"):
            failing.step()
        torch.optim.SGD([weight], lr=0.1).step()
        steps = self.check(2)
        self.assertEqual([end["raised"] for _, _, end in steps], [1, 0])
        self.assertEqual([begin["depth"] for begin, _, _ in steps], [0, 0])

    def test_threads_step_independently(self):
        def work(weight, optimizer):
            self.train(optimizer, lambda: (weight ** 2).sum(), 20)

        weights = [torch.nn.Parameter(torch.full((4,), float(seed))) for seed in range(4)]
        # All alive until the end: another optimizer at the address of one that is gone would have its identity.
        optimizers = [torch.optim.Adam([weight]) for weight in weights]
        threads = [threading.Thread(target=work, args=pair) for pair in zip(weights, optimizers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        steps = recorded_steps(RECORDING.take())
        self.assertEqual(len(steps), 80)
        self.assertEqual(len(self.seen.steps), 80)
        for begin, groups, end in steps:
            self.assertEqual(begin["thread"], end["thread"])
            self.assertEqual((begin["depth"], len(groups), end["raised"]), (0, 1, 0))
        counters = {}
        for _, groups, end in steps:
            counters.setdefault(end["optimizer"], []).append(groups[0]["step"])
        self.assertEqual(sorted(map(len, counters.values())), [20] * 4)
        for found in counters.values():
            self.assertEqual(found, [None] + [float(i) for i in range(1, 20)])

    def test_one_group_a_parameter_and_groups_that_come_later(self):
        weights = [torch.nn.Parameter(torch.ones(i + 1)) for i in range(50)]
        optimizer = torch.optim.AdamW([{"params": [w], "lr": 0.001 * i} for i, w in enumerate(weights[:-1])])
        self.train(optimizer, lambda: sum(w.sum() for w in weights))
        optimizer.add_param_group({"params": [weights[-1]]})
        self.train(optimizer, lambda: sum(w.sum() for w in weights))
        steps = self.check(2 * STEPS)
        self.assertEqual(len({end["key"] for _, _, end in steps}), 2)

    def test_frozen_and_unused_parameters(self):
        weights = [torch.nn.Parameter(torch.ones(4), requires_grad=i % 2 == 0) for i in range(6)]
        optimizer = torch.optim.AdamW(weights)
        self.train(optimizer, lambda: weights[2].sum() + weights[4].sum())
        for _, groups, _ in self.check(STEPS):
            self.assertEqual((groups[0]["params"], groups[0]["params_with_grad"]), (6, 2))

    def test_a_mode_of_the_job_sees_nothing_of_us(self):
        from torch.overrides import TorchFunctionMode

        class Log(TorchFunctionMode):
            def __init__(self):
                super().__init__()
                self.calls = []

            def __torch_function__(self, function, types, args=(), kwargs=None):
                self.calls.append(getattr(function, "__name__", str(function)))
                return function(*args, **(kwargs or {}))

        weight = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        optimizer.step()
        logs = []
        for on in (True, False):
            RECORDING.record(on)
            with Log() as log:
                optimizer.step()
            logs.append([call for call in log.calls])
        RECORDING.record(True)
        ours = [call for call in logs[0] if call not in logs[1]]
        self.assertEqual(ours, [])

    def test_odd_settings_are_left_out(self):
        class Odd(torch.optim.Optimizer):
            def step(self, closure=None):
                return None

        class Rate:
            def __float__(self):
                raise AssertionError("the recorder must not call this")

        self.seen.handle.remove()
        weight = torch.nn.Parameter(torch.ones(4))
        optimizer = Odd([weight], dict(lr=Rate(), betas=[0.5], eps="small", weight_decay=10 ** 400, momentum=True))
        optimizer.step()
        ((_, groups, _),) = recorded_steps(RECORDING.take())
        found = {key: groups[0][key] for key in ("lr", "beta1", "beta2", "eps", "weight_decay", "momentum", "step")}
        self.assertEqual(found, dict(lr=None, beta1=0.5, beta2=None, eps=None, weight_decay=None, momentum=1.0, step=None))

    def test_an_interrupt_inside_the_hook_reaches_the_job(self):
        class Interrupted(torch.optim.Optimizer):
            asked = False

            @property
            def state(self):
                if Interrupted.asked:
                    raise KeyboardInterrupt
                return {}

            @state.setter
            def state(self, value):
                pass

            def step(self, closure=None):
                return None

        optimizer = Interrupted([torch.nn.Parameter(torch.ones(1))], {})
        self.seen.handle.remove()
        Interrupted.asked = True
        with self.assertRaises(KeyboardInterrupt):
            optimizer.step()
        Interrupted.asked = False
        optimizer.step()

    def test_nothing_is_recorded_while_recording_is_off(self):
        weight = torch.nn.Parameter(torch.ones(4))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        RECORDING.record(False)
        optimizer.step()
        RECORDING.record(True)
        # That the process trains is told even so: a forked child begins to record by it.
        self.assertEqual([event for event in RECORDING.take() if event["kind"] != "promote"], [])
        optimizer.step()
        self.assertEqual(len(recorded_steps(RECORDING.take())), 1)


if __name__ == "__main__":
    unittest.main()
