"""Writes reference.json into a model folder: what a worker must reproduce.

    make_reference.py FOLDER [--file onnx/model.onnx] [--pairs PAIRS.json]

FOLDER is in Hugging Face layout (config.json, tokenizer.json, an ONNX file, and
maybe stepgap.json). Each pair gets the token ids of Python's tokenizers, the
logits of Python's onnxruntime (pairs one by one, no padding) and the class that
the highest logit means. Run it on the model that you trust, the fp32 export,
and keep reference.json beside every file converted or quantised from it.

PAIRS is a list of {"premise", "hypothesis", "gold"}, where gold may be left out;
by default the pairs beside this script. If another reading of the labels than
the folder's fits the gold labels better, nothing is written: the label map is
wrong, or the model is no NLI model. Needs numpy, onnxruntime, tokenizers.
"""

import argparse
import itertools
import json
import pathlib
import sys

import numpy as np
import onnxruntime
import tokenizers

HERE = pathlib.Path(__file__).resolve().parent
THREE = ("entailment", "neutral", "contradiction")
TWO = ("entailment", "not_entailment")
_MEANINGS = {
    "entailment": "entailment entail entails entailed supports supported support consistent grounded factual faithful",
    "neutral": "neutral not-enough-info not-enough-information nei",
    "contradiction": "contradiction contradict contradicts contradictory contradicted refutes refuted refute",
    "not_entailment": "not-entailment not-entailed non-entailment nonentailment no-entailment not-supported unsupported"
    " not-support inconsistent not-consistent ungrounded not-grounded hallucination hallucinated unfaithful not-factual",
}
MEANING = {name: meaning for meaning, names in _MEANINGS.items() for name in names.split()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--file", help="ONNX file in the folder; default: stepgap.json's, model.onnx or onnx/model.onnx")
    parser.add_argument("--pairs", type=pathlib.Path, default=HERE / "pairs.json")
    arguments = parser.parse_args()
    pairs = json.loads(arguments.pairs.read_text(encoding="utf-8"))
    reference = measure(arguments.folder, pairs, arguments.file)
    path = arguments.folder / "reference.json"
    write(path, reference)
    print(f"{path}: {len(reference)} pairs")


def write(path, reference):
    """Write reference pairs, one a line."""
    lines = [json.dumps(pair, ensure_ascii=False) for pair in reference]
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def measure(folder, pairs, file=None):
    """Return the reference pairs; ends the program if the labels don't fit."""
    own = folder / "stepgap.json"
    own = json.loads(own.read_text(encoding="utf-8")) if own.exists() else {}
    labels = classes(own.get("labels") or json.loads((folder / "config.json").read_text(encoding="utf-8"))["id2label"])
    session = onnxruntime.InferenceSession(str(folder / (file or own.get("file") or model_file(folder))))
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    output = [o.name for o in session.get_outputs()]
    output = "logits" if "logits" in output else output[0]
    reference = []
    for pair in pairs:
        encoding = encode(tokenizer, pair, own.get("pair_text"))
        (logits,) = session.run([output], feeds(session, encoding))[0]
        if len(logits) != len(labels):
            sys.exit(f"the model has {len(logits)} outputs and {len(labels)} labels")
        reference.append({
            "premise": pair["premise"],
            "hypothesis": pair["hypothesis"],
            "ids": encoding.ids,
            "type_ids": encoding.type_ids,
            "logits": [round(float(value), 6) for value in logits],
            "label": labels[int(np.argmax(logits))],
        })
    check_meaning(pairs, reference, labels)
    return reference


def classes(id2label):
    """Return the meaning of each class, by position."""
    names = [id2label[str(i)] for i in range(len(id2label))]
    meant = [MEANING.get("-".join(name.lower().replace("_", " ").replace("-", " ").split())) for name in names]
    if sorted(meant, key=str) not in (sorted(THREE), sorted(TWO)):
        sys.exit(f"the labels {names} don't say what they mean; say it in stepgap.json, as docs/nli.md shows")
    return meant


def model_file(folder):
    found = [name for name in ("model.onnx", "onnx/model.onnx") if (folder / name).exists()]
    if len(found) != 1:
        sys.exit(f"{folder} has {' and '.join(found) or 'neither model.onnx nor onnx/model.onnx'}; name the file with --file")
    return found[0]


def encode(tokenizer, pair, pair_text):
    """Return the pair's Encoding; special tokens count only where pair_text has them."""
    if not pair_text:
        tokenizer.encode_special_tokens = True  # a literal "[SEP]" in a text is text
        return tokenizer.encode(pair["premise"], pair["hypothesis"])
    tokenizer.encode_special_tokens = False
    before, middle, after = pair_text.replace("{hypothesis}", "{premise}").split("{premise}")
    texts = (pair["premise"], pair["hypothesis"])
    if pair_text.index("{premise}") > pair_text.index("{hypothesis}"):
        texts = texts[::-1]
    return tokenizer.encode(before + texts[0] + middle + texts[1] + after)


def feeds(session, encoding):
    """Return the inputs that the session asks for, in the types it asks for."""
    values = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
    types = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
    return {i.name: np.array([values[i.name]], types[i.type]) for i in session.get_inputs()}


def check_meaning(pairs, reference, labels):
    """End the program if a permutation of the labels fits the gold labels better."""
    gold = [(p["gold"], r["logits"]) for p, r in zip(pairs, reference) if p.get("gold")]
    if not gold:
        return
    known = set(labels)

    def right(order):
        return sum((g if g in known else "not_entailment") == order[int(np.argmax(logits))] for g, logits in gold)

    best = max(itertools.permutations(labels), key=right)
    if right(best) > right(labels):
        sys.exit(
            f"by the folder's labels ({', '.join(labels)}) the model is right on {right(labels)} of {len(gold)} pairs, "
            f"read as ({', '.join(best)}) on {right(best)}: the label map is wrong; nothing was written"
        )
    print(f"right on {right(labels)} of {len(gold)} pairs with a gold label", file=sys.stderr)


if __name__ == "__main__":
    main()
