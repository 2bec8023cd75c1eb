"""A HuggingFace Trainer run: a tiny Llama on bytes, two accumulation steps, AdamW from the Trainer itself."""

import os
import tempfile

from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

import witness
from tiny_model import batch


class Losses(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **_):
        if "loss" in logs:
            witness.loss(logs["loss"])


def main():
    witness.start(distributed=False)
    config = LlamaConfig(
        vocab_size=256,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    rows = [batch(i, rows=1)[0][0] for i in range(64)]
    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(),
        max_steps=5,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        ddp_backend="gloo",
        seed=0,
        disable_tqdm=True,
    )
    data = [{"input_ids": row, "labels": row} for row in rows]
    model = LlamaForCausalLM(config)
    witness.follow_batches(model.get_input_embeddings())
    Trainer(model=model, args=arguments, train_dataset=data, callbacks=[Losses()]).train()
    witness.finish(rank=int(os.environ["RANK"]))


if __name__ == "__main__":
    main()
