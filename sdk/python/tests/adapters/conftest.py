"""Fixtures of the adapters' tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, scope="session")
def _without_cuda() -> None:
    """torch on a machine that lacks CUDA's libraries: what asks them for a graph must not."""
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        torch.cuda.is_current_stream_capturing = lambda: False
