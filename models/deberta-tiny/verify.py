"""Holds the graph against transformers' own DeBERTa-v2 with the same weights.

    verify.py FOLDER

Needs torch, transformers, onnxruntime and numpy; prints the greatest difference
of a logit over pairs of many lengths, alone and padded in one batch, and ends
with status 1 if it is above 1e-4.
"""

import json
import pathlib
import sys

import numpy as np
import onnxruntime
import torch
import transformers

import make
import weights as drawing

TOLERANCE = 1e-4


def main():
    folder = pathlib.Path(sys.argv[1])
    theirs = transformers.DebertaV2ForSequenceClassification(transformers.DebertaV2Config(**json.loads((folder / "config.json").read_text())))
    state = {name: torch.from_numpy(value) for name, value in make.weights(make.vocabulary()).items()}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    if unexpected or [name for name in missing if "position_ids" not in name]:
        sys.exit(f"weights differ in kind: missing {missing}, unexpected {unexpected}")
    theirs.eval()
    ours = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    source = np.random.RandomState(7)
    batch = [pair["ids"] for pair in json.loads((folder / "reference.json").read_text(encoding="utf-8"))]
    batch += [source.randint(4, drawing.VOCABULARY, n).tolist() for n in (3, 64, 127, 128, 129, 200, 257, 384, 511, 512)]
    longest = max(map(len, batch))
    padded = np.array([ids + [0] * (longest - len(ids)) for ids in batch], np.int64)
    mask = np.array([[1] * len(ids) + [0] * (longest - len(ids)) for ids in batch], np.int64)
    worst = difference(theirs, ours, padded, mask)
    for ids in batch:
        worst = max(worst, difference(theirs, ours, np.array([ids], np.int64), np.ones((1, len(ids)), np.int64)))
    print(f"transformers {transformers.__version__}, torch {torch.__version__}: {len(batch)} inputs of {min(map(len, batch))} to {longest} tokens, alone and in one batch: greatest difference of a logit {worst:.2e}")
    if not worst <= TOLERANCE:
        sys.exit(f"the graph is no DeBERTa-v2: {worst:.2e} is above {TOLERANCE}")


def difference(theirs, ours, ids, mask):
    with torch.no_grad():
        wanted = theirs(input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).logits.numpy()
    (got,) = ours.run(["logits"], {"input_ids": ids, "attention_mask": mask})
    return float(np.abs(got - wanted).max())


if __name__ == "__main__":
    main()
