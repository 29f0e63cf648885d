"""Measures a built model on the held-out parts of public NLI sets.

    evaluate.py BUILT_MODEL DATA        (DATA holds nli/mnli_dev.csv and so on)

Prints a markdown table of accuracy and macro-F1, fp32 and int8, pairs one by one.
Held out means: every MNLI and SNLI row whose premise falls into the tenth that
training left out, and the test or dev parts of the other sets. Needs numpy,
onnxruntime and tokenizers.
"""

import csv
import hashlib
import json
import pathlib
import re
import sys

import numpy as np
import onnxruntime
import tokenizers

LABELS = ("entailment", "neutral", "contradiction")
FEVER_LABELS = {"SUPPORTS": 0, "NOT ENOUGH INFO": 1, "REFUTES": 2}


def main():
    model, data = (pathlib.Path(argument) for argument in sys.argv[1:3])
    tokenizer = tokenizers.Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512, strategy="longest_first")
    sessions = [onnxruntime.InferenceSession(str(model / name)) for name in ("model.onnx", "model_int8.onnx")]
    print("| set, held-out part | pairs | fp32 accuracy (macro-F1) | int8 accuracy (macro-F1) |")
    print("|---|---|---|---|")
    for name, rows in held_out(data / "nli"):
        truth = np.array([label for _, _, label in rows])
        scores = [score(truth, predict(session, tokenizer, rows)) for session in sessions]
        print(f"| {name} | {len(rows)} | " + " | ".join(f"{a:.1f} % ({f:.1f} %)" for a, f in scores) + " |", flush=True)


def held_out(folder):
    """Yield (name, [(premise, hypothesis, label index)]) for each set."""
    for name, file in (("MNLI", "mnli_dev.csv"), ("SNLI", "snli_dev.csv")):
        rows = csv.DictReader((folder / file).open(encoding="utf-8", errors="replace"))
        yield name, [
            (row["premise"], row["hypothesis"], LABELS.index(row["label"]))
            for row in rows
            if row["label"] in LABELS and in_left_out_tenth(row["premise"])
        ]
    yield "counterfactual SNLI (test)", read_tsv(folder / "cad_test.tsv", "sentence1", "sentence2", "gold_label")
    yield "ConjNLI (dev)", read_tsv(folder / "conj_dev.tsv", "Premise", "Hypothesis", "Label")
    yield "FEVER-Symmetric (test)", read_fever(folder / "fever_sym_test.jsonl")


def in_left_out_tenth(premise):
    digest = hashlib.md5(premise.strip().lower().encode(), usedforsecurity=False)
    return int(digest.hexdigest(), 16) % 10 == 0


def read_tsv(path, premise, hypothesis, label):
    rows = csv.DictReader(path.open(encoding="utf-8-sig"), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [
        (row[premise], row[hypothesis], LABELS.index(row[label].strip()))
        for row in rows
        if row[label] and row[label].strip() in LABELS
    ]


def read_fever(path):
    rows = (json.loads(line) for line in path.open(encoding="utf-8"))
    return [
        (detokenized(row["evidence"]), detokenized(row["claim"]), FEVER_LABELS[row.get("gold_label") or row["label"]])
        for row in rows
    ]


def detokenized(text):
    return re.sub(r"\s+([.,;:!?])", r"\1", text).replace("-LRB-", "(").replace("-RRB-", ")")


def predict(session, tokenizer, rows):
    labels = []
    for premise, hypothesis, _ in rows:
        encoding = tokenizer.encode(premise, hypothesis)
        feeds = {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": np.array([encoding.attention_mask], np.int64),
            "token_type_ids": np.array([encoding.type_ids], np.int64),
        }
        labels.append(int(session.run(["logits"], feeds)[0][0].argmax()))
    return np.array(labels)


def score(truth, predicted):
    """Return accuracy and macro-F1 over the labels that occur, both in percent."""
    f1 = []
    for label in sorted(set(truth.tolist())):
        hits = ((truth == label) & (predicted == label)).sum()
        f1.append(2 * hits / ((truth == label).sum() + (predicted == label).sum()))
    return 100 * (truth == predicted).mean(), 100 * float(np.mean(f1))


if __name__ == "__main__":
    main()
