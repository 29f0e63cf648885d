"""Trains an encoder student on the pairs of `stepgap distill export --encoder`.

    train_encoder.py --data student-data/encoder.jsonl --base build/models/nli-minilm --out student

Fine-tunes the NLI model of --base with a new head of four labels, keeps the epoch
that is best on the split dev, and writes a folder that `stepgap check --judge student
--student-model FOLDER` takes: model.onnx, config.json, the tokenizer's files,
reference.json (pairs with the logits that the judge must reproduce) and training.json
(figures). Runs on CPU; the same seed, thread count and versions give the same model.
"""

import argparse
import json
import pathlib
import random
import shutil
import sys
import time

import numpy as np
import tokenizers
import torch
from torch.nn import functional

import bert_onnx

LABELS = ("none", "contradicted_claim", "irrelevant_evidence", "missing_bridge")
CHUNK = 32  # batches that are sorted by length together
REFERENCES = 24  # pairs that the judge is held to


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, type=pathlib.Path, help="encoder.jsonl of stepgap distill export")
    parser.add_argument("--base", required=True, type=pathlib.Path, help="folder of the NLI model to start from")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder to write the student to")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=5e-5, help="highest learning rate")
    parser.add_argument("--head-rate", type=float, default=5e-4, help="the same of the new head")
    parser.add_argument("--warm-up", type=float, default=0.1, help="share of the steps in which it rises")
    parser.add_argument("--tokens", type=int, default=384, help="longer pairs lose the end of their premise")
    parser.add_argument("--frozen", type=int, default=2, help="lowest layers that stay as they are")
    parser.add_argument("--balance", type=float, default=0.5, help="0 weighs examples alike, 1 labels alike")
    parser.add_argument("--limit", type=int, default=0, help="at most so many training pairs; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    run(arguments)


def run(arguments):
    splits = read(arguments.data)
    if not splits.get("train"):
        sys.exit(f"{arguments.data} has no pairs of the split train")
    tokenizer = open_tokenizer(arguments.base, arguments.tokens)
    encoded = {name: encode(tokenizer, pairs) for name, pairs in splits.items()}
    if arguments.limit:
        random.Random(arguments.seed).shuffle(encoded["train"])
        encoded["train"] = encoded["train"][: arguments.limit]
    model, proto = bert_onnx.load(arguments.base, len(LABELS), arguments.frozen)

    started = time.monotonic()
    report = {"pairs": {name: len(pairs) for name, pairs in encoded.items()}, "epochs": []}
    best, kept = None, None
    for epoch, loss in enumerate(fit(model, encoded["train"], arguments), start=1):
        measured = {"epoch": epoch, "loss": round(loss, 4)}
        if encoded.get("dev"):
            measured["dev"] = measure(model, encoded["dev"])
        report["epochs"].append(measured)
        print(json.dumps(measured), flush=True)
        score = measured.get("dev", {}).get("macro_f1")
        if best is None or score is None or score > best:
            best, kept = score, {name: t.clone() for name, t in model.state_dict().items()}
    model.load_state_dict(kept)
    report["seconds"] = round(time.monotonic() - started)
    for name, pairs in encoded.items():
        if name != "train":
            report[name] = measure(model, pairs)
    write(arguments, model, proto, tokenizer, splits, report)
    print(json.dumps({name: report[name] for name in report if name not in ("epochs", "arguments")}))


def read(path):
    """Return {split: [(premise, hypothesis, label index)]}."""
    splits = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            if row["label"] not in LABELS:
                sys.exit(f"{path}:{number}: the label {row['label']!r} is none of {', '.join(LABELS)}")
            pair = (row["premise"], row["hypothesis"], LABELS.index(row["label"]))
            splits.setdefault(row["split"], []).append(pair)
    return splits


def open_tokenizer(folder, tokens):
    """Return the tokenizer as the judge uses it: "[SEP]" in a text stays text.

    The judge leaves the least relevant sentences of a premise out where a pair is
    too long; they stand last, so cutting the premise's end comes to nearly the same.
    """
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens, strategy="only_first")
    return tokenizer


def encode(tokenizer, pairs):
    """Return [(ids, type ids, label)]; pairs whose hypothesis alone is too long are left out."""
    out = []
    for premise, hypothesis, label in pairs:
        try:
            e = tokenizer.encode(premise, hypothesis)
        except Exception as error:  # the library raises no narrower class
            if "Truncation" not in str(error) and "truncat" not in str(error):
                raise
            continue
        out.append((e.ids, e.type_ids, label))
    return out


def fit(model, pairs, arguments):
    """Train, yielding the mean loss of each epoch."""
    counts = np.bincount([label for *_, label in pairs], minlength=len(LABELS))
    weights = torch.tensor(
        [(len(pairs) / (len(LABELS) * max(1, n))) ** arguments.balance for n in counts], dtype=torch.float32
    )
    head = set(model.classifier.parameters())
    body = [p for p in model.parameters() if p.requires_grad and p not in head]
    optimizer = torch.optim.AdamW(
        [{"params": body, "lr": arguments.rate}, {"params": list(head), "lr": arguments.head_rate}],
        betas=(0.9, 0.98), weight_decay=0.01,
    )
    steps = arguments.epochs * -(-len(pairs) // arguments.batch)
    rise = max(1, int(steps * arguments.warm_up))
    rate = lambda step: min((step + 1) / rise, max(0, steps - step) / max(1, steps - rise))  # noqa: E731
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    rng = random.Random(arguments.seed)
    for _ in range(arguments.epochs):
        model.train()
        losses = []
        for batch in batches(pairs, arguments.batch, rng):
            logits = model(*tensors(batch))
            loss = functional.cross_entropy(logits, torch.tensor([label for *_, label in batch]), weights)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*body, *head], 1.0)
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        yield float(np.mean(losses))


def batches(pairs, size, rng):
    """Yield shuffled batches, each of similar lengths so that little is padding."""
    order = list(pairs)
    rng.shuffle(order)
    out = []
    for start in range(0, len(order), size * CHUNK):
        chunk = sorted(order[start : start + size * CHUNK], key=lambda pair: len(pair[0]))
        out += [chunk[i : i + size] for i in range(0, len(chunk), size)]
    rng.shuffle(out)
    return out


def tensors(batch):
    """Return ids, type ids and mask, padded to the longest, as int64 [rows, length]."""
    length = max(len(ids) for ids, *_ in batch)
    ids, types, mask = (np.zeros((len(batch), length), np.int64) for _ in range(3))
    for row, (its, kinds, _) in enumerate(batch):
        ids[row, : len(its)], types[row, : len(its)], mask[row, : len(its)] = its, kinds, 1
    return tuple(map(torch.from_numpy, (ids, types, mask)))


def measure(model, pairs):
    """Return accuracy, macro-F1 over the labels that occur, F1 of each, and the
    balanced accuracy of gap or none (None where only one of the two occurs)."""
    model.eval()
    table = np.zeros((len(LABELS), len(LABELS)), int)  # [gold, said]
    with torch.inference_mode():
        ordered = sorted(pairs, key=lambda pair: len(pair[0]))
        for start in range(0, len(ordered), 32):
            batch = ordered[start : start + 32]
            for said, (*_, label) in zip(model(*tensors(batch)).argmax(-1).tolist(), batch, strict=True):
                table[label, said] += 1
    f1 = {}
    for i, label in enumerate(LABELS):
        if table[i].sum() or table[:, i].sum():
            f1[label] = round(2 * table[i, i] / (table[i].sum() + table[:, i].sum()), 4)
    gaps, nones = table[1:].sum(), table[0].sum()
    balanced = None
    if gaps and nones:
        balanced = round((table[1:, 1:].sum() / gaps + table[0, 0] / nones) / 2, 4)
    return {
        "accuracy": round(float(np.trace(table) / table.sum()), 4) if table.sum() else None,
        "macro_f1": round(sum(f1.values()) / len(f1), 4) if f1 else None,
        "balanced_accuracy": balanced,
        "f1": f1,
        "confusion": table.tolist(),
    }


def write(arguments, model, proto, tokenizer, splits, report):
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    model.eval()
    bert_onnx.save(model, proto, out / "model.onnx")
    config = json.loads((arguments.base / "config.json").read_text(encoding="utf-8"))
    config["id2label"] = dict(enumerate(LABELS))
    config["label2id"] = {label: i for i, label in enumerate(LABELS)}
    write_json(out / "config.json", config)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if (arguments.base / name).exists():
            shutil.copyfile(arguments.base / name, out / name)
    write_json(out / "reference.json", references(model, tokenizer, splits))
    report["arguments"] = {name: str(value) if isinstance(value, pathlib.Path) else value for name, value in vars(arguments).items()}
    write_json(out / "training.json", report)


def references(model, tokenizer, splits):
    """Return pairs with ids and logits, of those that are short enough not to be cut."""
    pairs = [pair for name in sorted(splits) for pair in splits[name]]
    chosen, out = random.Random(0).sample(pairs, min(len(pairs), 4 * REFERENCES)), []
    for premise, hypothesis, _ in chosen:
        e = tokenizer.encode(premise, hypothesis)
        if e.overflowing or len(out) == REFERENCES:
            continue
        with torch.inference_mode():
            logits = model(*tensors([(e.ids, e.type_ids, 0)]))[0]
        out.append({
            "premise": premise, "hypothesis": hypothesis, "ids": e.ids, "type_ids": e.type_ids,
            "logits": [round(float(x), 6) for x in logits],
        })
    return out


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
