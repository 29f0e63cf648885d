"""What goes to users: a wheel and an archive with the types marked."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import stepgap

HERE = Path(__file__).resolve().parents[1]


def test_wheel_and_sdist_are_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(HERE)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    (sdist,) = tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as z:
        names = set(z.namelist())
        metadata = z.read(next(n for n in names if n.endswith("METADATA"))).decode()
    modules = {str(p.relative_to(HERE / "src")) for p in (HERE / "src" / "stepgap").rglob("*.py")}
    assert "stepgap/adapters/trl.py" in modules
    assert modules | {"stepgap/py.typed"} <= names
    assert not [n for n in names if not n.startswith("stepgap")]
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in required if "extra ==" not in line] == [
        "Requires-Dist: msgpack<2,>=1.0.5",
        "Requires-Dist: nats-py<3,>=2.10",
    ]
    with tarfile.open(sdist) as t:
        assert any(n.endswith("src/stepgap/py.typed") for n in t.getnames())


def test_all_names_are_there() -> None:
    for name in stepgap.__all__:
        assert hasattr(stepgap, name)
