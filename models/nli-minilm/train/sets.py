"""Reads the public sets and says which of their pairs are for training.

    sets.py FOLDER          prints the pairs of every part, and the held-out parts' checksums

FOLDER is laid out as README.md says. A pair is (premise, hypothesis, label) with
label 0 entailment, 1 neutral, 2 contradiction. The rule of the split, and the
checksums of what it holds out, stand in internal/nlieval (split.go, split.json);
this is the same rule, so that what is measured there was not trained on here.
"""

import csv
import hashlib
import json
import pathlib
import re
import sys

LABELS = {
    "entailment": 0, "neutral": 1, "contradiction": 2,
    "supports": 0, "not enough info": 1, "not_enough_info": 1, "refutes": 2,
}  # fmt: skip


def read(folder):
    """Return (train, held): {name: [pair]} of what to train on and of what is held out."""
    nli, labelled = pathlib.Path(folder) / "nli", pathlib.Path(folder) / "labelled"
    mnli, snli = _csv(nli / "mnli_dev.csv"), _csv(nli / "snli_dev.csv")
    fm2 = _fm2(labelled / "fm2_dev_half.jsonl")
    train = {
        "MNLI": [pair for pair in mnli if not left_out(pair[0])],
        "SNLI": [pair for pair in snli if not left_out(pair[0])],
        "counterfactual SNLI": _cad(nli / "cad_train.tsv") + _cad(nli / "cad_dev.tsv"),
        "ConjNLI": _conj(nli / "conj_train_15k.tsv"),
        "FEVER-Symmetric": _fever(nli / "fever_sym_dev.jsonl"),
    }
    seen = {normal(pair[0]) for pairs in train.values() for pair in pairs}
    held = {
        "MNLI": [pair for pair in mnli if left_out(pair[0])],
        "SNLI": [pair for pair in snli if left_out(pair[0])],
        "counterfactual SNLI": _cad(nli / "cad_test.tsv"),
        "ConjNLI": _conj(nli / "conj_dev.tsv"),
        "FEVER-Symmetric": _fever(nli / "fever_sym_test.jsonl"),
    }
    held = {name: _unseen(pairs, seen) for name, pairs in held.items()}
    train["FM2"] = [pair for pair in fm2 if not left_out(pair[0])]
    measured = {_key(pair) for pairs in held.values() for pair in pairs}
    return {name: [pair for pair in pairs if _key(pair) not in measured] for name, pairs in train.items()}, held


def normal(text):
    return text.strip().lower()


def left_out(premise):
    """Say whether a premise is in the tenth that no training sees."""
    return int.from_bytes(hashlib.md5(normal(premise).encode(), usedforsecurity=False).digest(), "big") % 10 == 0


def checksum(pairs):
    """Return the hex SHA-256 that split.json pins a set by."""
    lines = (f"{label}\t{premise}\t{hypothesis}\n" for premise, hypothesis, label in pairs)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _key(pair):
    return normal(pair[0]), normal(pair[1])


def _unseen(pairs, seen):
    out, had = [], set()
    for pair in pairs:
        if normal(pair[0]) not in seen and _key(pair) not in had:
            had.add(_key(pair))
            out.append(pair)
    return out


def _pairs(rows, premise, hypothesis, label):
    for row in rows:
        name = (row[label] or "").strip().lower()
        if name in LABELS and row[premise] and row[hypothesis]:
            yield row[premise], row[hypothesis], LABELS[name]


def _csv(path):
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return list(_pairs(csv.DictReader(file), "premise", "hypothesis", "label"))


def _tsv(path, *columns):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(_pairs(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE), *columns))


def _cad(path):
    return _tsv(path, "sentence1", "sentence2", "gold_label")


def _conj(path):
    return _tsv(path, "Premise", "Hypothesis", "Label")


def _lines(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _fever(path):
    return [
        (_detokenized(row["evidence"]), _detokenized(row["claim"]), LABELS[(row.get("gold_label") or row["label"]).lower()])
        for row in _lines(path)
    ]


def _fm2(path):
    return [
        (" ".join(part["text"] for part in row["gold_evidence"]), row["text"], LABELS[row["label"].lower()])
        for row in _lines(path)
    ]


def _detokenized(text):
    return re.sub(r"\s+([.,;:!?])", r"\1", text).replace("-LRB-", "(").replace("-RRB-", ")")


def main():
    train, held = read(sys.argv[1])
    for name, pairs in train.items():
        print(f"train     {name:20} {len(pairs):6}")
    for name, pairs in held.items():
        print(f"held out  {name:20} {len(pairs):6}  {checksum(pairs)}")


if __name__ == "__main__":
    main()
