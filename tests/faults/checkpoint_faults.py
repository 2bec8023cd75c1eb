"""Checkpoints of a tiny model as PyTorch and safetensors write them, and what goes wrong with such: one function a case.

Each case gets a folder, writes what `run-reader check` is given, and returns its arguments.
"""

import copy
import json
import os
import random

import numpy
import torch
from safetensors.torch import save_file


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.q_proj = torch.nn.Linear(width, width, bias=False)
        self.k_proj = torch.nn.Linear(width, width, bias=False)
        self.up_proj = torch.nn.Linear(width, 2 * width, bias=False)
        self.down_proj = torch.nn.Linear(2 * width, width, bias=False)
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, x):
        h = self.norm(x)
        return x + self.down_proj(torch.relu(self.up_proj(self.q_proj(h) * torch.sigmoid(self.k_proj(h)))))


class Body(torch.nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed_tokens = torch.nn.Embedding(vocabulary, width)
        self.layers = torch.nn.ModuleList(Layer(width) for _ in range(2))

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return x


class Model(torch.nn.Module):
    def __init__(self, seed, vocabulary=96, width=32):
        torch.manual_seed(seed)
        super().__init__()
        self.model = Body(vocabulary, width)
        self.lm_head = torch.nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        return self.lm_head(self.model(tokens))


END = 7  # the tokenizer's end token


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def write_settings(folder, tie=False, end=END):
    write_json(f"{folder}/config.json", {"architectures": ["Model"], "hidden_size": 32, "tie_word_embeddings": tie})
    write_json(f"{folder}/generation_config.json", {"eos_token_id": end})
    write_json(f"{folder}/tokenizer.json", {"model": {"vocab": {"a": 0, "<end>": END}}})
    write_json(f"{folder}/tokenizer_config.json",
               {"eos_token": "<end>", "added_tokens_decoder": {str(END): {"content": "<end>", "special": True}}})


def write_directory(folder, state, tie=False, end=END):
    """Two shards with their index, and what lies beside them."""
    os.makedirs(folder)
    names = sorted(state)
    halves = names[: len(names) // 2], names[len(names) // 2:]
    weight_map, total = {}, 0
    for number, half in enumerate(halves, 1):
        shard = f"model-0000{number}-of-00002.safetensors"
        save_file({name: state[name].contiguous() for name in half}, f"{folder}/{shard}", metadata={"format": "pt"})
        for name in half:
            weight_map[name] = shard
            total += state[name].numel() * state[name].element_size()
    write_json(f"{folder}/model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": weight_map})
    write_settings(folder, tie, end)
    return folder


def original_state():
    return {name: value.detach().clone() for name, value in Model(1).state_dict().items()}


def original(folder, **changes):
    return write_directory(f"{folder}/original", {**original_state(), **changes})


def compared(check, folder, state, tie=False, end=END, reference=None):
    subject = write_directory(f"{folder}/subject", state, tie, end)
    return [check, subject, "--reference", reference or original(folder)]


# --- load ---------------------------------------------------------------------------------------------------------

def load_clean(folder):
    return compared("load", folder, original_state())


def load_cast(folder):
    return compared("load", folder, {name: value.bfloat16() for name, value in original_state().items()})


def load_from_torch_save(folder):
    """The loaded module was saved by torch.save, wrapped as DDP does, beside other things."""
    state = {f"module.{name}": value for name, value in original_state().items()}
    torch.save({"model": state, "step": 3}, f"{folder}/loaded.pt")
    return ["load", f"{folder}/loaded.pt", "--reference", original(folder)]


def load_prefix(folder):
    """The base class looks for keys without the prefix, finds none, and keeps its initialisation."""
    body, before = Body(96, 32), f"{folder}/before.safetensors"
    save_file(body.state_dict(), before)
    loaded = original_state()
    missing = body.load_state_dict(loaded, strict=False).missing_keys
    assert len(missing) == len(body.state_dict())
    save_file(body.state_dict(), f"{folder}/loaded.safetensors")
    del loaded["lm_head.weight"]
    return ["load", f"{folder}/loaded.safetensors", "--reference", write_directory(f"{folder}/original", loaded),
            "--before", before]


def load_transposed(folder):
    state = original_state()
    state["model.layers.0.q_proj.weight"] = state["model.layers.0.q_proj.weight"].t()
    state["model.layers.1.up_proj.weight"] = state["model.layers.1.up_proj.weight"].t()
    return compared("load", folder, state)


def load_permuted_rows(folder):
    state = original_state()
    name = "model.layers.0.q_proj.weight"
    state[name] = state[name].view(4, 2, 4, 32).transpose(1, 2).reshape(32, 32)
    return compared("load", folder, state)


def load_permuted_columns(folder):
    state = original_state()
    state["model.layers.0.down_proj.weight"] = state["model.layers.0.down_proj.weight"].roll(8, dims=1)
    return compared("load", folder, state)


def load_nan_leftover(folder):
    state = original_state()
    state["model.layers.1.norm.bias"] = torch.full_like(state["model.layers.1.norm.bias"], float("nan"))
    return compared("load", folder, state)


def load_nan_rows(folder):
    state = original_state()
    state["model.embed_tokens.weight"][90:] = float("nan")
    return compared("load", folder, state)


def load_exchanged(folder):
    state = original_state()
    q, k = "model.layers.0.q_proj.weight", "model.layers.0.k_proj.weight"
    state[q], state[k] = state[k], state[q]
    return compared("load", folder, state)


def load_reinitialised(folder):
    """A new head is initialised after the load."""
    state = original_state()
    state["lm_head.weight"] = Model(2).lm_head.weight.detach()
    return compared("load", folder, state)


# --- export -------------------------------------------------------------------------------------------------------

def export_clean(folder):
    return compared("export", folder, original_state())


def export_clean_tied(folder):
    """The head is the embedding, so that it is left out: no fault."""
    state = original_state()
    state["lm_head.weight"] = state["model.embed_tokens.weight"].clone()
    reference = write_directory(f"{folder}/original", state, tie=True)
    del state["lm_head.weight"]
    return compared("export", folder, state, tie=True, reference=reference)


def export_clean_without_head(folder):
    """Neither file has a head, since the model ties it."""
    state = original_state()
    del state["lm_head.weight"]
    return compared("export", folder, state, tie=True, reference=write_directory(f"{folder}/original", state, tie=True))


def export_empty(folder):
    """One rank saves its placeholders, as under ZeRO-3 without a gather."""
    return compared("export", folder, {name: torch.empty(0) for name in original_state()})


def export_dropped_head(folder):
    state = original_state()
    del state["lm_head.weight"]
    return compared("export", folder, state, tie=True)


def export_missing(folder):
    state = original_state()
    del state["model.layers.1.down_proj.weight"]
    return compared("export", folder, state)


def export_extra(folder):
    return compared("export", folder, {**original_state(), "model.layers.0.q_proj.lora_A": torch.randn(4, 32)})


def export_wrapped(folder):
    return compared("export", folder, {f"_orig_mod.{name}": value for name, value in original_state().items()})


def export_cast(folder):
    return compared("export", folder, {name: value.half() for name, value in original_state().items()})


def export_wrong_index(folder):
    arguments = export_clean(folder)
    path = f"{arguments[1]}/model.safetensors.index.json"
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    shards = sorted(set(index["weight_map"].values()))
    name = sorted(index["weight_map"])[0]
    index["weight_map"][name] = shards[1]
    write_json(path, index)
    return arguments


def export_truncated(folder):
    arguments = export_clean(folder)
    shard = f"{arguments[1]}/model-00002-of-00002.safetensors"
    os.truncate(shard, os.path.getsize(shard) - 100)
    return arguments


def export_missing_shard(folder):
    arguments = export_clean(folder)
    os.remove(f"{arguments[1]}/model-00001-of-00002.safetensors")
    return arguments


def export_end_token(folder):
    return compared("export", folder, original_state(), end=0)


def export_tokenizer(folder):
    arguments = export_clean(folder)
    os.remove(f"{arguments[1]}/tokenizer.json")
    return arguments


# --- resume -------------------------------------------------------------------------------------------------------

class Training:
    def __init__(self, seed=1, rates=(1e-3, 1e-4)):
        self.model = Model(seed)
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() <= 1]
        self.optimizer = torch.optim.AdamW([{"params": decayed, "lr": rates[0]},
                                            {"params": others, "lr": rates[1], "weight_decay": 0.0}])
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 0.99 ** step)
        self.rows_seen = 0

    def step(self):
        tokens = torch.randint(0, 96, (2, 8))
        loss = torch.nn.functional.cross_entropy(self.model(tokens).flatten(0, 1), tokens.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.schedule.step()
        self.rows_seen += 2

    def state(self):
        """As it is now: state dicts share memory with what trains."""
        return copy.deepcopy({
            "model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
            "scheduler": self.schedule.state_dict(), "dataloader": {"rows_seen": self.rows_seen},
            "rng": {"torch": torch.get_rng_state(), "numpy": numpy.random.get_state(), "python": random.getstate()},
        })

    def load(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["scheduler"])
        self.rows_seen = state["dataloader"]["rows_seen"]
        torch.set_rng_state(state["rng"]["torch"])
        numpy.random.set_state(state["rng"]["numpy"])
        random.setstate(state["rng"]["python"])


def saved_state(steps=8):
    training = Training()
    for _ in range(steps):
        training.step()
    return training.state()


def resumed(folder, state, saved):
    torch.save(saved, f"{folder}/saved.pt")
    torch.save(state, f"{folder}/resumed.pt")
    return ["resume", f"{folder}/resumed.pt", "--reference", f"{folder}/saved.pt"]


def resume_clean(folder):
    saved, training = saved_state(), Training(seed=2)
    training.load(saved)
    return resumed(folder, training.state(), saved)


def changed(folder, change):
    saved = saved_state()
    state = copy.deepcopy(saved)
    change(state)
    return resumed(folder, state, saved)


def resume_moments(folder):
    """Only the parameters and the learning rate are loaded; the optimizer is a fresh one."""
    saved, training = saved_state(), Training(seed=2)
    fresh = training.optimizer.state_dict()
    training.load(saved)
    training.optimizer.load_state_dict({"state": {}, "param_groups": saved["optimizer"]["param_groups"]})
    assert fresh["state"] == {}
    return resumed(folder, training.state(), saved)


def resume_zero_moments(folder):
    def change(state):
        for one in state["optimizer"]["state"].values():
            for value in one.values():
                value.zero_()
    return changed(folder, change)


def resume_step_reset(folder):
    def change(state):
        for one in state["optimizer"]["state"].values():
            one["step"].zero_()
    return changed(folder, change)


def resume_bf16_step(folder):
    saved = saved_state()
    for one in saved["optimizer"]["state"].values():
        one["step"].fill_(10000)
    state = copy.deepcopy(saved)
    for one in state["optimizer"]["state"].values():
        one["step"] = one["step"].bfloat16()
    return resumed(folder, state, saved)


def resume_bf16_moments(folder):
    def change(state):
        for one in state["optimizer"]["state"].values():
            one["exp_avg_sq"] = one["exp_avg_sq"].bfloat16()
    return changed(folder, change)


def resume_group_rate(folder):
    def change(state):
        first, second = state["optimizer"]["param_groups"]
        first["lr"], second["lr"] = second["lr"], first["lr"]
    return changed(folder, change)


def resume_schedule(folder):
    return changed(folder, lambda state: state["scheduler"].update(last_epoch=0, _step_count=1))


def resume_random(folder):
    return changed(folder, lambda state: state["rng"].update(torch=torch.Generator().manual_seed(5).get_state()))


def resume_data(folder):
    return changed(folder, lambda state: state["dataloader"].update(rows_seen=0))


def resume_parameters(folder):
    return changed(folder, lambda state: state["model"]["lm_head.weight"].add_(1e-4))
