"""Exported models that answer otherwise than their original, each named by `plumbline compare-outputs`; clean twins pass.

    check_outputs.py --python PYTHON --shim libplumbline.so --run-reader run-reader [--write docs/faults_outputs.md]

The script of compare-outputs runs in this process once a case, where transformers is imported once for all; the command then takes
what it left from a program in place of Python. One clean case and the refusals run the command as a user does.
"""

import argparse
import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "..", "tools", "plumbline"))

import output_probe  # noqa: E402
import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # noqa: E402

PAGE = """# Exported models whose answers are compared

A tiny Llama with a tokenizer, exported right and wrong; `plumbline compare-outputs` loads both in transformers. The table is made by
`tests/faults/check_outputs.py --write docs/faults_outputs.md`, and the test `fault.outputs` checks each row again.

| export | exit status | first words |
|---|---|---|
"""
ORIGINAL = "original"
TURN = "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}{% endfor %}"


def write_tokenizer(path, template):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = {piece: index for index, piece in enumerate(["<pad>", "<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(names, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
                            chat_template=template).save_pretrained(path)


def write_original(path):
    torch.manual_seed(0)
    config = LlamaConfig(vocab_size=272, hidden_size=32, intermediate_size=64, num_hidden_layers=3, num_attention_heads=4,
                         num_key_value_heads=2, bos_token_id=1, eos_token_id=2, pad_token_id=0, initializer_range=0.3)
    LlamaForCausalLM(config).save_pretrained(path)
    write_tokenizer(path, TURN)


def changed_tensors(path, change):
    name = os.path.join(path, "model.safetensors")
    tensors = load_file(name)
    change(tensors)
    save_file(tensors, name, metadata={"format": "pt"})


def changed_json(path, name, change):
    with open(os.path.join(path, name), encoding="utf-8") as file:
        content = json.load(file)
    change(content)
    with open(os.path.join(path, name), "w", encoding="utf-8") as file:
        json.dump(content, file)


def as_it_is(path):
    """a copy"""


def in_shards(path):
    """in several shards"""
    model = LlamaForCausalLM.from_pretrained(path)
    os.remove(os.path.join(path, "model.safetensors"))
    model.save_pretrained(path, max_shard_size="40kB")


def layers_exchanged(path):
    """two layers exchanged"""
    def exchange(tensors):
        for name in [name for name in tensors if name.startswith("model.layers.0.")]:
            other = name.replace("layers.0.", "layers.1.")
            tensors[name], tensors[other] = tensors[other], tensors[name]
    changed_tensors(path, exchange)


def norm_nudged(path):
    """one element of a norm off by a thousandth: no greedy answer shows it"""
    changed_tensors(path, lambda tensors: tensors["model.norm.weight"][0].mul_(1.001))


def tensor_missing(path):
    """a tensor missing"""
    changed_tensors(path, lambda tensors: tensors.pop("model.layers.2.self_attn.o_proj.weight"))


def tensor_renamed(path):
    """a tensor under the name of an adapter"""
    changed_tensors(path, lambda tensors: tensors.update({"model.layers.2.lora_A": torch.zeros(2)}))


def not_numbers(path):
    """a weight of NaN"""
    changed_tensors(path, lambda tensors: tensors["model.norm.weight"].fill_(float("nan")))


def other_end(path):
    """another end token in generation_config.json"""
    changed_json(path, "generation_config.json", lambda settings: settings.update(eos_token_id=2 + 1))


def other_theta(path):
    """another rope_theta in config.json"""
    changed_json(path, "config.json", lambda settings: settings["rope_parameters"].update(rope_theta=1.5))


def other_template(path):
    """a chat template that writes the first token twice"""
    write_tokenizer(path, "{{ bos_token }}" + TURN)


def no_tokenizer(path):
    """no tokenizer"""
    for name in output_probe.TOKENIZER_FILES:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(path, name))


def narrower(path):
    """cast to bfloat16"""
    model = LlamaForCausalLM.from_pretrained(path, dtype=torch.bfloat16)
    model.save_pretrained(path)


def truncated(path):
    """half of a file"""
    name = os.path.join(path, "model.safetensors")
    os.truncate(name, os.path.getsize(name) // 2)


# Export, exit status, words.
CASES = [
    (as_it_is, 0, r"ok outputs: 72 greedy tokens of 12 answers are the same, and their logits bit for bit"),
    (in_shards, 0, r"ok outputs"),
    (layers_exchanged, 1, r"FAIL outputs: greedy answers differ after 1\d of 12 prompts: after 'The capital of France is', "
                          r"answer position 0: token \d+ in the export, token \d+ in the original"),
    (norm_nudged, 3, r"OPEN outputs: the greedy answers are the same, the logits are not: .* differ by up to"),
    (tensor_missing, 1, r"the export lacks 1 parameter of the model, which the engine made up: "
                        r"model\.layers\.2\.self_attn\.o_proj\.weight"),
    (tensor_renamed, 1, r"no place for 1 tensor of the export, and the engine left them out: model\.layers\.2\.lora_A"),
    (not_numbers, 1, r"FAIL outputs: greedy answers differ .*FAIL outputs: after .* the export's logits are no numbers"),
    (other_end, 1, r"FAIL outputs: the export stops at token 3, the original at token 2"),
    (other_theta, 1, r"FAIL outputs: greedy answers differ"),
    (other_template, 1, r"the export's tokenizer makes other tokens of 2 prompts .*position 1: token 1 by the export's"),
    (no_tokenizer, 3, r"OPEN outputs: the export has no tokenizer, the original has one"),
    (narrower, 3, r"OPEN outputs: .*bfloat16"),
    (truncated, 2, r"cannot be loaded by transformers 5\.18\.0 as a model that writes text"),
]


def compare(plumbline, python, original, exported, *more):
    done = subprocess.run([plumbline, "compare-outputs", original, exported, "--python", python, *more], capture_output=True,
                          text=True, check=False)
    return done.returncode, re.sub(r"\s+", " ", done.stdout + done.stderr).strip()


def replayed(plumbline, folder, case):
    """What the command says of what its script left of a case."""
    original, exported = os.path.join(folder, ORIGINAL), os.path.join(folder, case.__name__)
    shutil.copytree(original, exported)
    case(exported)
    left = os.path.join(folder, "left.jsonl")
    with contextlib.redirect_stdout(io.StringIO()):
        output_probe.main(["--original", original, "--exported", exported, "--output", left, "--device", "cpu", "--tokens", "6"])
    program = os.path.join(folder, "python")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nwhile [ "$1" != --output ]; do shift; done\ncp {left} "$2"\n')
    os.chmod(program, 0o755)
    return compare(plumbline, program, original, exported)


def as_a_user(plumbline, python, folder):
    """(what, exit status, words, what was said) of commands with a real interpreter."""
    original, exported = os.path.join(folder, ORIGINAL), os.path.join(folder, as_it_is.__name__)
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("one prompt\n\nand another\n")
    bare = os.path.join(folder, "bare")
    with open(bare, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {python} -S "$@"\n')
    os.chmod(bare, 0o755)
    words = r"ok outputs: 8 greedy tokens of 2 answers"
    yield "own prompts", 0, words, compare(plumbline, python, original, exported, "--prompts", prompts, "--tokens", "4")
    words = r"cannot import torch .*install torch and transformers there, or name the Python of the job by --python"
    yield "no transformers", 2, words, compare(plumbline, bare, original, exported)


def shortened(text, most=150):
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def main():
    parser = argparse.ArgumentParser()
    for name in ("--python", "--shim", "--run-reader", "--write"):
        parser.add_argument(name)
    options = parser.parse_args()
    plumbline = os.path.join(os.path.dirname(options.run_reader), "plumbline")
    torch.set_num_threads(1)
    page, problems = PAGE, []
    with tempfile.TemporaryDirectory(prefix="plumbline-outputs-") as folder:
        write_original(os.path.join(folder, ORIGINAL))
        results = [(case.__doc__, status, words, replayed(plumbline, folder, case)) for case, status, words in CASES]
        results += as_a_user(plumbline, options.python, folder)
        for what, status, words, (found, said) in results:
            if found != status or not re.search(words, said):
                problems.append(f"{what}: expected {status} and {words}, found {found}: {said}")
            page += f"| {what} | {found} | {shortened(said.replace(folder + '/', '').replace(options.python, 'python'))} |\n"
    print(page)
    if options.write:
        with open(options.write, "w", encoding="utf-8") as file:
            file.write(page)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
