"""Loads two model directories in the same transformers and notes what each answers to the same prompts.

Started by `plumbline compare-outputs`. Leaves JSON lines in --output: where it is ("stage"), why it went no further
("refused"), or what it found ("result"). Answers are greedy. Logits are those of the original's prompt and answer, for
both models, so that they can be compared after the answers part. Nothing is judged here, and nothing looked up online.
"""

import argparse
import copy
import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "vocab.txt")
TEXTS = (
    "The capital of France is",
    "def fibonacci(n):\n    ",
    "1, 2, 3, 5, 8, 13,",
    "Once upon a time, in a village by the sea,",
    "Die Summe von siebzehn und fünf ist",
    "Q: Why is the sky blue?\nA:",
)
CHATS = 2
SEED = 20240229


class Refused(Exception):
    """Nothing can be compared; the text is a sentence for the person who asked."""


def first_line(error):
    text = f"{type(error).__name__}: {error}".strip().split("\n")[0]
    return text if len(text) <= 300 else text[:300] + " …"


def import_engine(python):
    try:
        import torch
        import transformers
    except ImportError as error:
        raise Refused(f"{python} cannot import {error.name or 'transformers'} ({first_line(error)}): install torch and "
                      "transformers there, or name the Python of the job by --python") from error
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return torch, transformers


class Model:
    """One of the two directories, loaded."""

    def __init__(self, engine, path, options):
        self.torch, self.transformers = engine
        self.path = path
        self.torch.manual_seed(SEED)  # a tensor that is missing is made up: twice the same
        try:
            self.model, self.loading = self.transformers.AutoModelForCausalLM.from_pretrained(
                path, output_loading_info=True, trust_remote_code=options.trust_remote_code,
                **{self.type_argument(): "auto"})
        except Exception as error:
            raise Refused(f"{path} cannot be loaded by transformers {self.transformers.__version__} as a model that "
                          f"writes text ({first_line(error)}): run-reader check export tells what is wrong with the "
                          "files of an export") from error
        with self.torch.no_grad():  # kernels round alike on memory of the same alignment, which a mapped file has not
            for tensor in list(self.model.parameters()) + list(self.model.buffers()):
                tensor.data = tensor.data.clone()
        self.model.to(options.device)
        self.tokenizer, self.tokenizer_error = self.load_tokenizer(options)

    def type_argument(self):
        major, minor = self.transformers.__version__.split(".")[:2]
        return "dtype" if (int(major), int(minor)) >= (4, 56) else "torch_dtype"

    def load_tokenizer(self, options):
        if not any(os.path.exists(os.path.join(self.path, name)) for name in TOKENIZER_FILES):
            return None, ""
        try:
            return self.transformers.AutoTokenizer.from_pretrained(
                self.path, trust_remote_code=options.trust_remote_code), ""
        except Exception as error:
            return None, first_line(error)

    def ids(self, text, chat):
        """None where this directory has nothing to make tokens of the text with."""
        if self.tokenizer is None or (chat and not self.tokenizer.chat_template):
            return None
        if not chat:
            return list(self.tokenizer(text)["input_ids"])
        turns = [{"role": "user", "content": text}]
        rendered = self.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        return list(self.tokenizer(rendered, add_special_tokens=False)["input_ids"])

    def answer(self, ids, tokens):
        settings = copy.deepcopy(self.model.generation_config)
        settings.update(do_sample=False, num_beams=1, max_new_tokens=tokens, max_length=None, temperature=None, top_p=None,
                        top_k=None, return_dict_in_generate=False)
        given = self.torch.tensor([ids], device=self.model.device)
        with self.torch.no_grad():
            return self.model.generate(given, attention_mask=self.torch.ones_like(given), generation_config=settings)[
                0, len(ids):].tolist()

    def logits(self, ids, answer):
        """Of the places at which the answer's tokens were chosen."""
        with self.torch.no_grad():
            whole = self.model(input_ids=self.torch.tensor([ids + answer], device=self.model.device), use_cache=False)
        return whole.logits[0, len(ids) - 1:-1].float().cpu()

    def described(self):
        settings = self.model.generation_config
        ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
        return {
            "path": self.path,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "vocabulary": self.model.get_input_embeddings().weight.shape[0],
            "missing": sorted(map(str, self.loading["missing_keys"])),
            "unexpected": sorted(map(str, self.loading["unexpected_keys"])),
            "ends": sorted(token for token in ends if token is not None),
            "tokenizer": self.tokenizer is not None,
            "tokenizer_error": self.tokenizer_error,
        }


def seeded_prompts(torch, count, vocabulary):
    draw = torch.Generator().manual_seed(SEED)
    return [torch.randint(vocabulary, (4 + 3 * index,), generator=draw).tolist() for index in range(count)]


def prompts_for(original, path):
    """(what it is, text or None, whether it is a chat, ids) of each prompt."""
    if path:
        if original.tokenizer is None:
            raise Refused(f"{original.path} has no tokenizer to read --prompts with ({original.tokenizer_error or 'no file'}):"
                          " leave --prompts out, and prompts of random tokens are taken")
        with open(path, encoding="utf-8") as file:
            texts = [line.rstrip("\n") for line in file if line.strip()]
        if not texts:
            raise Refused(f"{path} holds no prompt: write one a line")
        wanted = [(f"line {index + 1} of the prompts", text, False) for index, text in enumerate(texts)]
    else:
        wanted = [(repr(text), text, False) for text in TEXTS]
        wanted += [(f"the chat {text!r}", text, True) for text in TEXTS[:CHATS]]
    prompts = []
    for what, text, chat in wanted:
        ids = original.ids(text, chat)
        if ids:
            prompts.append((what, text, chat, ids))
    if not path:
        seeded = seeded_prompts(original.torch, 4 if prompts else 8, original.model.get_input_embeddings().weight.shape[0])
        prompts += [(f"{len(ids)} random tokens", None, False, ids) for ids in seeded]
    return prompts


def distance(torch, left, right):
    """The largest difference of two blocks of logits; None where one has no number and the other does."""
    shared = min(left.shape[-1], right.shape[-1])
    left, right = left[..., :shared], right[..., :shared]
    same = (left == right) | (left.isnan() & right.isnan())
    apart = torch.where(same, torch.zeros_like(left), (left - right).abs())
    return float(apart.max()) if apart.isfinite().all() else None


def lead(logits):
    """How far the best logit of a place is above the second."""
    best = logits.topk(2).values
    return float(best[0] - best[1])


def first_difference(left, right):
    for place, (one, other) in enumerate(zip(left, right)):
        if one != other:
            return place
    return min(len(left), len(right))


def questioned(original, prompts, tokens):
    asked = []
    for what, text, chat, ids in prompts:
        try:
            answer = original.answer(ids, tokens)
            logits = original.logits(ids, answer)
            again = original.logits(ids, answer)
        except Exception as error:
            raise Refused(f"{original.path} answers nothing to {what} ({first_line(error)}): there is nothing to compare "
                          "with") from error
        asked.append({"prompt": what, "text": text, "chat": chat, "given": ids, "original": answer, "logits": logits,
                      "finite": bool(logits.isfinite().all()), "repeat_distance": distance(original.torch, logits, again)})
    return asked


def compare_with(exported, asked, tokens):
    for one in asked:
        text, chat, logits = one.pop("text"), one.pop("chat"), one.pop("logits")
        if text is not None and exported.tokenizer is not None:
            one["exported_given"] = exported.ids(text, chat) or []
        try:
            one["exported"] = exported.answer(one["given"], tokens)
            one["distance"] = distance(exported.torch, logits, exported.logits(one["given"], one["original"]))
        except Exception as error:
            one["raised"] = first_line(error)
            continue
        place = first_difference(one["original"], one["exported"])
        if place < len(one["original"]):
            one["lead"] = lead(logits[place])


def compared(options, journal):
    engine = import_engine(sys.executable)
    torch, transformers = engine
    journal(stage=f"loading {options.original}")
    original = Model(engine, options.original, options)
    journal(stage=f"running {options.original}")
    asked = questioned(original, prompts_for(original, options.prompts), options.tokens)
    first = original.described()
    del original  # one at a time in memory
    journal(stage=f"loading {options.exported}")
    exported = Model(engine, options.exported, options)
    journal(stage=f"running {options.exported}")
    compare_with(exported, asked, options.tokens)
    versions = f"transformers {transformers.__version__}, torch {torch.__version__}, {options.device}"
    return {"engine": versions, "original": first, "exported": exported.described(), "prompts": asked}


def main(arguments=None):
    parser = argparse.ArgumentParser()
    for name in ("--original", "--exported", "--output", "--device"):
        parser.add_argument(name, required=True)
    parser.add_argument("--prompts", default="")
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--trust-remote-code", action="store_true")
    options = parser.parse_args(arguments)
    with open(options.output, "w", encoding="utf-8") as file:

        def journal(**line):
            file.write(json.dumps(line) + "\n")
            file.flush()

        try:
            journal(result=compared(options, journal))
        except Refused as why:
            journal(refused=str(why))


if __name__ == "__main__":
    main()
