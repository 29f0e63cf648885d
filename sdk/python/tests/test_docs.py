"""The examples of the documentation, run against the real pipeline."""

from __future__ import annotations

import ast
import inspect
import re
import types
from pathlib import Path

import pytest

from .conftest import ROOT, Server

PAGES = [ROOT / "docs" / "sdk-python.md", ROOT / "sdk" / "python" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
async def test_examples_run(page: Path, server: Server) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        source = block.replace("nats://127.0.0.1:4222", server.url)
        code = compile(source, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = types.FunctionType(code, names)()
        if inspect.iscoroutine(result):
            await result
