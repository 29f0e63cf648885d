"""Renews reference.json and SHA256SUMS after the delta or the pairs have changed.

    build_model.py --no-check --wheel WHEEL --out DIRECTORY
    make_reference.py DIRECTORY

The pairs are those of ../pairs.json, measured by ../make_reference.py. Needs
numpy, onnxruntime, tokenizers.
"""

import json
import pathlib
import shutil
import sys

import build_model

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import make_reference as reference  # noqa: E402 (found by the line above)


def main():
    directory = pathlib.Path(sys.argv[1])
    pairs = json.loads((HERE.parent / "pairs.json").read_text(encoding="utf-8"))
    reference.write(HERE / "reference.json", reference.measure(directory, pairs))
    shutil.copyfile(HERE / "reference.json", directory / "reference.json")
    build_model.write_checksums(directory)
    shutil.copyfile(directory / "SHA256SUMS", HERE / "SHA256SUMS")


if __name__ == "__main__":
    main()
