"""What is captured around optimizer steps, and around saves and loads, of tensors and optimizers of every kind."""
import inspect
import os
import pickle
import tempfile
import unittest

import torch

from recording import Recording, of

RECORDING = Recording()


def data_of(tensor):
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes().hex()


def step_of(parameters, **settings):
    """One step of SGD over parameters with gradients of ones; what was captured, by probe and name."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.ones_like(parameter)
    RECORDING.take()
    torch.optim.SGD(parameters, lr=0.5, **settings).step()
    return captured()


def captured():
    return {(record["probe"], record["name"]): record for record in of(RECORDING.take(), "capture")}


def errors(records):
    return [record for record in of(records, "fact") if record["key"].startswith("captures.error")]


class Captures(unittest.TestCase):
    def setUp(self):
        RECORDING.wish(full_bytes=1 << 30)

    def tearDown(self):
        found = errors(RECORDING.take())
        RECORDING.wish()
        self.assertEqual(found, [])

    def test_elements_in_row_major_order_whatever_the_layout(self):
        for make in (
            lambda: torch.arange(12.0).reshape(3, 4),
            lambda: torch.arange(12.0).reshape(3, 4).t(),
            lambda: torch.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2],
            lambda: torch.arange(8.0).expand(3, 8),
            lambda: torch.tensor(3.5),
            lambda: torch.empty(0, 4),
            lambda: torch.arange(6).to(torch.bfloat16),
            lambda: torch.arange(6).to(torch.float64),
            lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last),
        ):
            value = make()
            parameter = torch.nn.Parameter(value.clone() if 0 in value.stride() else value)
            before = data_of(parameter)
            found = [r for (probe, _), r in step_of([parameter]).items() if probe == "param.before"]
            self.assertEqual([(r["data"], r["shape"]) for r in found], [(before, list(value.shape))])

    def test_names_are_those_of_the_outermost_module(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))
        wrapped = torch.nn.ModuleDict({"net": model})
        found = step_of(list(model.parameters()))
        names = {name for probe, name in found if probe == "param.after"}
        self.assertEqual(names, {"net.0.weight", "net.0.bias", "net.1.weight", "net.1.bias"})
        self.assertEqual(found["grad", "net.1.weight"]["detail"]["module"], "LayerNorm")
        del wrapped

    def test_a_tied_parameter_has_one_name_and_tells_the_others(self):
        model = torch.nn.ModuleDict({"embedding": torch.nn.Embedding(5, 3), "out": torch.nn.Linear(3, 5, bias=False)})
        model["out"].weight = model["embedding"].weight
        found = step_of([model["out"].weight])
        self.assertEqual(found["grad", "embedding.weight"]["detail"]["tied"], ["out.weight"])

    def test_models_with_the_same_names_stay_apart(self):
        models = [torch.nn.ModuleDict({"same": torch.nn.Linear(2, 2)}) for _ in range(3)]
        names = set()
        for model in models:
            names |= {name for probe, name in step_of(list(model.parameters())) if probe == "grad"}
        self.assertEqual(len(names), 6)

    def test_a_parameter_of_no_module_is_named_by_its_place(self):
        found = step_of([torch.nn.Parameter(torch.ones(3))])
        (name,) = [name for probe, name in found if probe == "grad"]
        self.assertRegex(name, r"^optimizer\d+\.group0\.param0$")

    def test_settings_of_each_group(self):
        groups = [{"params": [torch.nn.Parameter(torch.ones(2))], "lr": torch.tensor(0.25)}]
        groups.append({"params": [torch.nn.Parameter(torch.ones(2))], "rates": (0.5, float("inf")), "own": object()})
        optimizer = torch.optim.AdamW(groups, lr=0.125, weight_decay=0.5)
        RECORDING.take()
        optimizer.step()
        found = captured()
        first, second = (found["optimizer.group", str(i)]["detail"]["settings"] for i in range(2))
        self.assertEqual((first["lr"], first["weight_decay"], first["maximize"]), (0.25, 0.5, False))
        self.assertEqual((second["lr"], second["rates"]), (0.125, [0.5, "inf"]))
        self.assertNotIn("own", second)
        self.assertEqual(found["optimizer.step", "AdamW"]["detail"]["without_grad"], found_params(found))

    def test_steps_are_counted_by_optimizer(self):
        parameter = torch.nn.Parameter(torch.ones(2))
        parameter.grad = torch.ones(2)
        RECORDING.take()
        optimizers = [torch.optim.SGD([parameter], lr=0.1) for _ in range(2)]
        for optimizer in (optimizers[0], optimizers[1], optimizers[0]):
            optimizer.step()
        notes = [r for r in of(RECORDING.take(), "capture") if r["probe"] == "optimizer.step"]
        self.assertEqual([note["step"] for note in notes], [0, 0, 1])
        self.assertEqual(notes[0]["detail"]["optimizer"], notes[2]["detail"]["optimizer"])
        self.assertNotEqual(notes[0]["detail"]["optimizer"], notes[1]["detail"]["optimizer"])

    def test_gradients_that_a_closure_computes(self):
        parameter = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
        optimizer = torch.optim.SGD([parameter], lr=0.1)

        def closure():
            optimizer.zero_grad()
            loss = (parameter**2).sum()
            loss.backward()
            return loss

        RECORDING.take()
        self.assertEqual(float(optimizer.step(closure)), 25.0)
        grads = [r for r in of(RECORDING.take(), "capture") if r["probe"] == "grad"]
        self.assertEqual([grad["data"] for grad in grads], [data_of(torch.tensor([6.0, 8.0]))])

    def test_sampled_elements_are_spread_over_the_tensor(self):
        RECORDING.wish(samples=4, hashed=True)
        values = torch.arange(1000.0)
        found = step_of([torch.nn.Parameter(values.clone().reshape(10, 100).t())])
        (record,) = [r for (probe, _), r in found.items() if probe == "param.before"]
        self.assertEqual(len(record["indices"]), 4)
        row_major = values.reshape(10, 100).t().reshape(-1)
        self.assertEqual(record["data"], data_of(row_major[torch.tensor(record["indices"])]))
        self.assertEqual([index // 250 for index in record["indices"]], [0, 1, 2, 3])
        self.assertEqual((record["amount"], record["hashed"]), (2, 1))

    def test_statistics(self):
        RECORDING.wish(samples=1, statistics=True)
        values = torch.tensor([3.0, -4.0, 0.0, float("nan"), float("inf"), -float("inf")])
        for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float64):
            found = step_of([torch.nn.Parameter(values.clone().to(dtype))])
            (record,) = [r for (probe, _), r in found.items() if probe == "param.before"]
            numbers = [record[key] for key in ("sum", "norm", "absmax", "nans", "infs", "zeros")]
            self.assertEqual(numbers, [-1, 5, 4, 1, 2, 1])

    def test_a_sparse_gradient_is_a_note(self):
        table = torch.nn.Embedding(10, 2, sparse=True)
        table(torch.tensor([1, 2])).sum().backward()
        found = step_of([table.weight])
        (record,) = [r for (probe, _), r in found.items() if probe == "grad"]
        self.assertEqual((record["amount"], record["data"]), (0, ""))

    def test_nothing_is_kept_alive(self):
        import gc
        import weakref

        model = torch.nn.Linear(3, 3)
        references = [weakref.ref(model), weakref.ref(model.weight)]
        step_of(list(model.parameters()))
        del model
        gc.collect()
        self.assertEqual([reference() for reference in references], [None, None])

    def test_random_numbers_and_gradients_are_the_jobs(self):
        def train():
            torch.manual_seed(7)
            model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1))
            optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
            for _ in range(4):
                optimizer.zero_grad()
                model(torch.randn(3, 4)).sum().backward()
                optimizer.step()
            return b"".join(bytes.fromhex(data_of(p)) for p in model.parameters()), torch.rand(1).item()

        with_captures = train()
        RECORDING.wish()
        self.assertEqual(train(), with_captures)


def found_params(found):
    groups = [record["detail"]["params"] for (probe, _), record in found.items() if probe == "optimizer.group"]
    return [name for names in groups for name in names]


class Odd(dict):
    """State that cannot be read."""

    def get(self, key, default=None):
        raise ValueError("not for you")


class Checkpoints(unittest.TestCase):
    def setUp(self):
        RECORDING.wish(full_bytes=1 << 30)
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "state.pt")
        self.model = torch.nn.Linear(3, 2)
        RECORDING.take()

    def tearDown(self):
        RECORDING.wish()
        self.folder.cleanup()

    def test_what_is_saved_and_what_is_in_place_after_the_load(self):
        torch.save({"model": self.model.state_dict(), "epoch": 3}, self.path)
        saved = captured()
        self.assertEqual(saved["save.param", "model.weight"]["data"], data_of(self.model.weight))
        note = saved["save.note", "torch.save"]["detail"]
        self.assertEqual((note["path"], note["values"]), (self.path, {"epoch": 3}))
        other = torch.nn.Linear(3, 2)
        state = torch.load(self.path)["model"]
        del state["bias"]
        result = other.load_state_dict(state, strict=False)
        self.assertEqual(result.missing_keys, ["bias"])
        loaded = captured()
        self.assertEqual(loaded["load.param", "weight"]["data"], data_of(self.model.weight))
        note = loaded["load.note", "Module.load_state_dict"]["detail"]
        self.assertEqual((note["path"], note["missing"]), (self.path, ["bias"]))
        self.assertIn(("rng", "cpu"), loaded)

    def test_state_of_an_optimizer_is_matched_by_index(self):
        optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.model(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        torch.save(optimizer.state_dict(), self.path)
        other = torch.optim.Adam(self.model.parameters(), lr=0.5)
        other.load_state_dict(torch.load(self.path))
        found = of(RECORDING.take(), "capture")
        saved = {r["detail"]["index"]: r["data"] for r in found if r["probe"] == "save.optimizer.exp_avg"}
        loaded = {r["detail"]["index"]: r["data"] for r in found if r["probe"] == "load.optimizer.exp_avg"}
        self.assertEqual(sorted(saved), [0, 1])
        self.assertEqual(saved, loaded)
        (note,) = [r["detail"] for r in found if r["name"] == "Optimizer.load_state_dict"]
        self.assertEqual(note["groups"][0]["lr"], 0.01)

    def test_the_functions_look_and_fail_as_before(self):
        self.assertEqual(list(inspect.signature(torch.save).parameters)[:2], ["obj", "f"])
        self.assertIs(pickle.loads(pickle.dumps(torch.save)), torch.save)
        self.assertIs(torch.save, torch.serialization.save)
        with self.assertRaises(FileNotFoundError):
            torch.load(self.path)
        with self.assertRaisesRegex(RuntimeError, "Missing key"):
            self.model.load_state_dict({})
        self.assertEqual(errors(RECORDING.take()), [])

    def test_what_goes_to_memory_is_no_save(self):
        import io

        torch.save(self.model.state_dict(), io.BytesIO())
        self.assertEqual(captured(), {})

    def test_an_error_of_ours_is_told_and_not_the_jobs(self):
        parameter = torch.nn.Parameter(torch.ones(2))
        parameter.grad = torch.ones(2)
        optimizer = torch.optim.SGD([parameter], lr=0.5)
        optimizer.state = Odd()
        RECORDING.take()
        optimizer.step()
        self.assertEqual(parameter.tolist(), [0.5, 0.5])
        self.assertIn("before_step: ValueError: not for you", [record["value"] for record in errors(RECORDING.take())])


if __name__ == "__main__":
    unittest.main()
