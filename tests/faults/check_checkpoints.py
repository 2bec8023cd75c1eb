"""Faults of loads, exports and resumes in real checkpoints, each named by its check; their clean twins stay silent.

    check_checkpoints.py --python PYTHON --shim libplumbline.so --run-reader run-reader
"""

import argparse
import re
import subprocess
import sys
import tempfile

import checkpoint_faults as faults

# Case, and what the words must hold; none: a clean twin, of which nothing may be said.
CASES = [
    (faults.load_clean, None),
    (faults.load_cast, None),
    (faults.load_from_torch_save, None),
    (faults.load_prefix, r"0 of 13 tensors were written by the load; 13 equal the fresh initialisation bit for bit; "
                         r'file keys start with "model\.", module keys do not'),
    (faults.load_transposed, r"2 of 14 tensors of the module are transposed"),
    (faults.load_permuted_rows, r"rows in other places: model\.layers\.0\.q_proj\.weight"),
    (faults.load_permuted_columns, r"columns in other places: model\.layers\.0\.down_proj\.weight"),
    (faults.load_nan_leftover, r"nothing but NaN: they were never written: model\.layers\.1\.norm\.bias"),
    (faults.load_nan_rows, r"NaN in a part.*rows 90-95"),
    (faults.load_exchanged, r"q_proj\.weight: holds the file's model\.layers\.0\.k_proj\.weight"),
    (faults.load_reinitialised, r"nothing in common with the file's, as after a fresh initialisation: lm_head\.weight"),
    (faults.export_clean, None),
    (faults.export_clean_tied, None),
    (faults.export_clean_without_head, None),
    (faults.export_empty, r"exported file: 0 of 14 tensors have elements \(shape \[0\]\); expected about .* F32"),
    (faults.export_dropped_head, r"lm_head\.weight was dropped as if it were tied to model\.embed_tokens\.weight"),
    (faults.export_missing, r"1 of the original's 14 tensors are missing.*layers\.1\.down_proj\.weight"),
    (faults.export_extra, r"not in the original: model\.layers\.0\.q_proj\.lora_A"),
    (faults.export_wrapped, r"names of wrappers"),
    (faults.export_cast, r"14 of 14 tensors of the export have another element type.*F32 became F16"),
    (faults.export_wrong_index, r"is in model-00001-of-00002\.safetensors, and not in model-00002"),
    (faults.export_truncated, r"model-00002-of-00002\.safetensors: .*cut off"),
    (faults.export_missing_shard, r"is named by model\.safetensors\.index\.json and is not there"),
    (faults.export_end_token, r"stops at token 0, but the tokenizer's end token is 7 \(<end>\)"),
    (faults.export_tokenizer, r"tokenizer\.json of the original is missing in the export"),
    (faults.resume_clean, None),
    (faults.resume_moments, r"after resume exp_avg/exp_avg_sq are absent and there is no step while the file has them "
                            r"\(28 of 28 state tensors, step 8\); first update = lr.sign\(g\)"),
    (faults.resume_zero_moments, r"exp_avg/exp_avg_sq are zero and step=0 while the file has them .*step 8"),
    (faults.resume_step_reset, r"step is 0 after the resume, 8 at the save; with the moments kept, the first update is "),
    (faults.resume_bf16_step, r"step went through BF16: 10000 became 9984"),
    (faults.resume_bf16_moments, r"exp_avg_sq: F32 became BF16"),
    (faults.resume_group_rate, r"learning rate \(lr\) of group 0 .* which is what group 1 had"),
    (faults.resume_schedule, r"learning rate schedule is not that of the save: scheduler\._step_count is 1"),
    (faults.resume_random, r"random state is not that of the save: rng\.torch"),
    (faults.resume_data, r"rows_seen is 0 after the resume, 16 at the save: 16 are done twice"),
    (faults.resume_parameters, r"differ: model\.lm_head\.weight"),
]


def outcome(run_reader, case, words):
    """Whether the check said what it should, and its first words."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = case(folder)
        done = subprocess.run([run_reader, "check", *arguments], capture_output=True, text=True, check=False)
    said = re.sub(r"\s+", " ", done.stdout + done.stderr).strip()
    right = done.returncode == (1 if words else 0) and (not words or re.search(words, said) is not None)
    return right, arguments[0], said


def main():
    parser = argparse.ArgumentParser()
    for name in ("--python", "--shim", "--run-reader"):
        parser.add_argument(name)
    options = parser.parse_args()
    wrong = 0
    print("fault | check | caught | words")
    for case, words in CASES:
        right, check, said = outcome(options.run_reader, case, words)
        wrong += not right
        caught = ("yes" if words else "silent, as it should be") if right else "WRONG"
        print(f"{case.__name__} | {check} | {caught} | {said if not right else said[:160]}", flush=True)
    print(f"{sum(1 for _, words in CASES if words)} faults, {sum(1 for _, words in CASES if not words)} clean, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
