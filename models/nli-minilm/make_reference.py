"""Renews reference.json and SHA256SUMS after the delta or the pairs have changed.

    build_model.py --no-check --wheel WHEEL --out DIRECTORY
    make_reference.py DIRECTORY

Keeps the premises and hypotheses of reference.json beside this script, and gives
each the token ids of Python's tokenizers and the fp32 logits of Python's
onnxruntime (pairs one by one, no padding). Needs numpy, onnxruntime, tokenizers.
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import onnxruntime
import tokenizers

import build_model

HERE = pathlib.Path(__file__).resolve().parent


def main():
    directory = pathlib.Path(sys.argv[1])
    pairs = json.loads((HERE / "reference.json").read_text(encoding="utf-8"))
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True  # a literal "[SEP]" in a text is text
    session = onnxruntime.InferenceSession(str(directory / "model.onnx"))
    lines = [json.dumps(measure(tokenizer, session, pair), ensure_ascii=False) for pair in pairs]
    (HERE / "reference.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    shutil.copyfile(HERE / "reference.json", directory / "reference.json")
    build_model.write_checksums(directory)
    shutil.copyfile(directory / "SHA256SUMS", HERE / "SHA256SUMS")


def measure(tokenizer, session, pair):
    encoding = tokenizer.encode(pair["premise"], pair["hypothesis"])
    feeds = {
        "input_ids": np.array([encoding.ids], np.int64),
        "attention_mask": np.array([encoding.attention_mask], np.int64),
        "token_type_ids": np.array([encoding.type_ids], np.int64),
    }
    (logits,) = session.run(["logits"], feeds)[0]
    return {
        "premise": pair["premise"],
        "hypothesis": pair["hypothesis"],
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "logits": [round(float(value), 6) for value in logits],
    }


if __name__ == "__main__":
    main()
