"""Fine-tunes a language model student with TRL on the chats of `stepgap distill export`.

    sft_trl.py --data sft --model Qwen/Qwen2.5-1.5B-Instruct --out student-llm
    sft_trl.py --data sft --model tiny --out tried --steps 8        # a try-out on CPU, nothing fetched

Loss is taken on the teacher's answer alone. Serve the result with any
OpenAI-compatible server and judge by it with the prompt that the export holds:

    stepgap check --judge single-llm --prompt-dir sft/prompts --llm-url URL --llm-model NAME FILE

`tiny` is a model of two layers with random weights, made here: it shows that data and
recipe work, and learns nothing worth serving.
"""

import argparse
import json
import pathlib
import sys

import datasets
import torch
import transformers
import trl

LABELS = ("none", "contradicted_claim", "irrelevant_evidence", "missing_bridge")
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder that stepgap distill export wrote")
    parser.add_argument("--model", required=True, help="name or folder of a chat model, or tiny")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder to write the student to")
    parser.add_argument("--steps", type=int, default=-1, help="at most so many updates; -1 for all epochs")
    parser.add_argument("--epochs", type=float, default=2.0)
    parser.add_argument("--batch", type=int, default=2, help="chats a device at once")
    parser.add_argument("--accumulate", type=int, default=8, help="batches an update")
    parser.add_argument("--rate", type=float, default=1e-5)
    parser.add_argument("--tokens", type=int, default=4096, help="longer chats are left out, never cut")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    transformers.set_seed(arguments.seed)
    train, held = read(arguments.data, "train"), read(arguments.data, "dev")
    if not train:
        sys.exit(f"{arguments.data} has no chats of the split train (sft-train.jsonl)")
    model, tokenizer = tiny(train, arguments.tokens) if arguments.model == "tiny" else open_model(arguments.model)
    train, left = fitting(tokenizer, train, arguments.tokens)
    held, _ = fitting(tokenizer, held, arguments.tokens)
    if not train:
        sys.exit(f"no chat has at most {arguments.tokens} tokens")
    print(f"{len(train)} chats to train on, {left} left out as too long, {len(held)} to measure on", flush=True)

    before = answer_loss(model, tokenizer, held or train[:8])
    trainer = trl.SFTTrainer(
        model,
        args=config(arguments),
        train_dataset=datasets.Dataset.from_list(train),
        processing_class=tokenizer,
    )
    trainer.train()
    after = answer_loss(trainer.model, tokenizer, held or train[:8])
    trainer.save_model(str(arguments.out))
    tokenizer.save_pretrained(str(arguments.out))
    report = {"chats": len(train), "too_long": left, "answer_loss_before": before, "answer_loss_after": after}
    (arguments.out / "training.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report))


def read(folder, split):
    """Return [{"prompt": [system, user], "completion": [assistant]}] of a split; empty
    where the export has none."""
    path = folder / f"sft-{split}.jsonl"
    if not path.exists():
        return []
    chats = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            messages = json.loads(line)["messages"]
            answer = json.loads(messages[-1]["content"])
            if messages[-1]["role"] != "assistant" or answer["label"] not in LABELS:
                sys.exit(f"{path}:{number}: the chat does not end with a label")
            chats.append({"prompt": messages[:-1], "completion": messages[-1:]})
    return chats


def open_model(name):
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    return transformers.AutoModelForCausalLM.from_pretrained(name, dtype="auto"), tokenizer


def tiny(chats, tokens):
    """Return a random model of two layers and a byte-level tokenizer trained on the chats."""
    import tokenizers

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train_from_iterator(
        (m["content"] for chat in chats for m in chat["prompt"] + chat["completion"]),
        tokenizers.trainers.BpeTrainer(
            vocab_size=2048,
            special_tokens=["<pad>", "<|im_start|>", "<|im_end|>"],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="<|im_end|>")
    tokenizer.chat_template = CHAT
    model = transformers.Qwen2ForCausalLM(
        transformers.Qwen2Config(
            vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=tokens,
            pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id, bos_token_id=None,
        )
    )
    return model, tokenizer


def ids_of(tokenizer, messages, **options):
    text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def fitting(tokenizer, chats, tokens):
    """Return the chats of at most so many tokens, and how many are longer."""
    kept = [c for c in chats if len(ids_of(tokenizer, c["prompt"] + c["completion"])) <= tokens]
    return kept, len(chats) - len(kept)


@torch.inference_mode()
def answer_loss(model, tokenizer, chats):
    """Return the mean loss of a token of the answers, rounded."""
    model.eval()
    total, count = 0.0, 0
    for chat in chats:
        prompt = ids_of(tokenizer, chat["prompt"], add_generation_prompt=True)
        whole = ids_of(tokenizer, chat["prompt"] + chat["completion"])
        if whole[: len(prompt)] != prompt or len(whole) == len(prompt):
            sys.exit("the chat template of this model does not end a prompt where the answer begins")
        ids = torch.tensor([whole], device=model.device)
        labels = ids.clone()
        labels[0, : len(prompt)] = -100
        answered = len(whole) - len(prompt)
        total += model(ids, labels=labels).loss.item() * answered
        count += answered
    model.train()
    return round(total / count, 4)


def config(arguments):
    cuda = torch.cuda.is_available()
    return trl.SFTConfig(
        output_dir=str(arguments.out),
        max_steps=arguments.steps,
        num_train_epochs=arguments.epochs,
        per_device_train_batch_size=arguments.batch,
        gradient_accumulation_steps=arguments.accumulate,
        learning_rate=1e-3 if arguments.model == "tiny" else arguments.rate,
        lr_scheduler_type="cosine",
        warmup_steps=0 if arguments.steps > 0 else 10,
        max_length=arguments.tokens,
        completion_only_loss=True,
        packing=False,
        logging_steps=1 if arguments.steps > 0 else 10,
        save_strategy="no",
        report_to=[],
        seed=arguments.seed,
        bf16=cuda,
        use_cpu=not cuda,
        dataloader_pin_memory=cuda,
        **({"gradient_checkpointing": True} if cuda else {}),
    )


if __name__ == "__main__":
    main()
