"""Lets PyPI's torch for x86-64 Linux, which is built for CUDA, be imported without
CUDA's libraries: 3 GB that a benchmark on CPU never calls.

    without_cuda.py SITE_PACKAGES

Beside torch's own libraries it puts an empty library for each CUDA library they name,
and one that defines every function they look for. Each of those answers 100, which
is CUDA's "no device".
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

NVIDIA = re.compile(r"lib(cu|nv|nccl)")
FUNCTION = re.compile(r"(__)?(cu|nccl|nvrtc|nvshmem|nvtx|nvml|nvJitLink|nvFatbin)\w*$")
FUNCTIONS = "libwithoutcuda.so"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def build(target, source, soname, *flags):
    with tempfile.NamedTemporaryFile("w", suffix=".c") as file:
        file.write(source)
        file.flush()
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-w", "-o", target, file.name, f"-Wl,-soname,{soname}", *flags],
            check=True,
        )


def main():
    folder = Path(sys.argv[1]) / "torch" / "lib"
    libraries = [p for p in folder.glob("*.so*") if p.is_file()]
    present = {p.name for p in libraries}
    wanted, missing, defined = set(), set(), set()
    for library in libraries:
        wanted.update(re.findall(r"\(NEEDED\).*\[(.+?)\]", output("readelf", "-dW", library)))
        for line in output("nm", "-D", library).splitlines():
            kind, symbol = line.split()[-2:]
            (missing if kind == "U" else defined).add(symbol.partition("@")[0])
    absent = sorted(n for n in wanted - present if NVIDIA.match(n))
    functions = sorted(f for f in missing - defined if FUNCTION.match(f))
    if not absent:
        return
    # The functions stand in a library of another name: the loader takes an
    # unversioned function for a versioned one only from a library that it was
    # not told to find it in.
    source = "".join(f"int {f}(void) {{ return 100; }}\n" for f in functions)
    build(folder / FUNCTIONS, source, FUNCTIONS)
    for name in absent:
        build(folder / name, "", name, "-Wl,--no-as-needed", f"-L{folder}", f"-l:{FUNCTIONS}", "-Wl,-rpath,$ORIGIN")
    print(f"{len(absent)} CUDA libraries and {len(functions)} functions are stand-ins", file=sys.stderr)


if __name__ == "__main__":
    main()
