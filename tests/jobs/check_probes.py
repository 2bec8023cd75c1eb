"""Probes of a diagnosis against what jobs write down themselves; losses are the same bit for bit with and without.

    check_probes.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import launch
import trial
from jobs import JOBS, Job

TEMPLATE = """
[probe."activation.layer"]
at = "module:layers.*"
[probe."activation.softened"]
at = "function:__main__.soften"
[probe."activation.temperature"]
at = "function:__main__.soften"
what = "input.temperature"
[probe."activation.gelu"]
at = "operator:aten::gelu"
what = "input.0"
[probe."activation.absent"]
at = "module:no.such.module"
"""


class Captures:
    def __init__(self, rows):
        self.rows = rows

    def of(self, probe, step=None, name=None):
        return [
            row
            for row in self.rows
            if row["probe"] == probe and step in (None, row["step"]) and name in (None, row["name"])
        ]

    def data(self, probe, step, name):
        return [row["data"] for row in sorted(self.of(probe, step, name), key=lambda row: row["occurrence"])]


def check_truth(problems, captures, truth):
    def same(what, found, wanted):
        if found != wanted:
            problems.append(f"{what}: captured {str(found)[:300]}, the job had {str(wanted)[:300]}")

    for step in range(len(truth["clip"])):
        micro = truth["micro"][2 * step : 2 * step + 2]
        places = (
            ("logits", "cross_entropy", "logits"),
            ("labels", "cross_entropy", "labels"),
            ("loss", "cross_entropy", "loss"),
            ("input_ids", "embed", "ids"),
            ("input_ids", "Model", "ids"),
            ("position_ids", "position_embed", "positions"),
            ("position_ids", "Model", "positions"),
        )
        for probe, name, key in places:
            same(f"step {step}, {probe} of {name}", captures.data(probe, step, name), [each[key] for each in micro])
        same(f"step {step}, attention_mask", captures.data("attention_mask", step, "Model"), ["01" * 12] * 2)
        half = [struct.pack("<f", struct.unpack("<f", bytes.fromhex(each["loss"]))[0] / 2).hex() for each in micro]
        same(f"step {step}, backward.loss", captures.data("backward.loss", step, ""), half)
        weights = captures.data("loss.grad", step, "cross_entropy")
        same(f"step {step}, loss.grad", weights, [struct.pack("<f", 0.5).hex()] * 2)
        for name, grad in truth["grads"][step].items():
            same(f"step {step}, grad.before_clip of {name}", captures.data("grad.before_clip", step, name), [grad])
        (clip,) = captures.of("clip", step)
        same(f"step {step}, clip", clip["detail"]["total_norm"], truth["clip"][step])
        same(f"step {step}, clip of", clip["detail"]["params"], list(truth["grads"][step]))
        same(f"step {step}, max_norm", clip["detail"]["max_norm"], 0.1)
        for layer in ("layers.0", "layers.1"):
            same(f"step {step}, {layer}", len(captures.of("activation.layer", step, layer)), 2)
        same(f"step {step}, softened", captures.data("activation.softened", step, "__main__.soften"),
             [each["logits"] for each in micro])  # fmt: skip
        same(f"step {step}, temperature", captures.data("activation.temperature", step, "__main__.soften"),
             [struct.pack("<d", 2.0).hex()] * 2)  # fmt: skip
        same(f"step {step}, gelu", len(captures.of("activation.gelu", step)), 4)
    detail = captures.of("loss", 0)[0]["detail"]
    for key, value in {"reduction": "mean", "ignore_index": -100, "label_smoothing": 0, "requires_grad": True}.items():
        same(f"detail of the loss, {key}", detail[key], value)
    same("losses of tokens", captures.data("token_loss", len(truth["clip"]), "nll_loss"), truth["evaluated"])
    check_weights(same, captures, len(truth["clip"]))
    same("losses that a compiler traces", [row["name"] for row in captures.of("loss") if row["amount"] != 1], [])
    ended = [row["detail"] for row in captures.of("probes") if row["detail"]["ended"]]
    same("probes that never fired", [row["never"] for row in ended], [["activation.absent"]])


def check_weights(same, captures, step):
    weights = captures.data("loss.grad", step, "cross_entropy")
    wanted = [[0.25 * 3 * 0.5], [1, 2, 3, 4], [3]]
    same("weights of losses", weights, [struct.pack(f"<{len(each)}f", *each).hex() for each in wanted])
    details = [row["detail"] or {} for row in captures.of("backward.loss", step)]
    graphs = [row["detail"]["graph"] for row in captures.of("loss", step)]
    same("losses with a graph", graphs, [False] * 4 + [True] * 2)
    same("gradients to begin with", details, [{}, {"weighted": True}, {"hooked": True}])


def main():
    options = trial.options()
    folder = tempfile.mkdtemp(prefix="plumbline-probes-")
    template = os.path.join(folder, "template.toml")
    with open(template, "w") as file:
        file.write(TEMPLATE)
    problems = []
    jobs = {"probed": Job("train_probed.py", launcher="python", ranks=1), "ddp": JOBS["ddp_fused_accumulate"]}
    try:
        for name, job in jobs.items():
            kept = os.path.join(folder, name)
            os.mkdir(kept)
            extra = {"PLUMBLINE_LEVEL": "diagnose", "PLUMBLINE_TEMPLATE": template, "WITNESS_DIR": kept}
            bare = launch.run(options.python, job, extra={"WITNESS_DIR": kept})
            bare_losses = losses(kept)
            shimmed = launch.run(options.python, job, options.shim, os.path.join(folder, name, "run"), extra)
            for how, outcome in (("alone", bare), ("under the shim", shimmed)):
                if outcome.status != 0:
                    problems.append(f"{name} fails {how}: {outcome.output[-2000:]}")
            if not bare_losses or losses(kept) != bare_losses:
                problems.append(f"{name}: losses differ: {bare_losses} and {losses(kept)}")
            captures = Captures(trial.captures(options, os.path.join(folder, name, "run")))
            if name == "probed":
                with open(os.path.join(kept, "truth.json")) as file:
                    check_truth(problems, captures, json.load(file))
                said = subprocess.run(
                    [options.run_reader, "check", "coverage", os.path.join(folder, name, "run")], stdout=subprocess.PIPE
                ).stdout.decode()
                if "probe activation.absent never fired: no module that was called" not in said:
                    problems.append(f"check coverage does not tell of the probe that never fired: {said}")
            elif {row["rank"] for row in captures.of("loss", 1)} != {0, 1}:
                problems.append(f"{name}: no loss of both ranks")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for text in problems:
        print(text)
    sys.exit(1 if problems else 0)


def losses(folder):
    found = {}
    for name in os.listdir(folder):
        if name.startswith("witness-"):
            with open(os.path.join(folder, name)) as file:
                found[name] = json.load(file)["losses"]
            os.remove(os.path.join(folder, name))
    return found


if __name__ == "__main__":
    main()
