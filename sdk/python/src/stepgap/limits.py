"""What a message may hold. Part of the wire; the same numbers as in Go's `pkg/schema`."""

from __future__ import annotations

MAX_ID = 128
"""Characters of a run or rollout id."""
MAX_INDEX = 1000
"""Highest step index."""
MAX_MESSAGE = 4 << 20
"""Bytes of any message on the wire."""
MAX_QUESTION = 16 << 10
"""Bytes, as for all texts below."""
MAX_TEXT = 256 << 10
MAX_QUERY = 16 << 10
MAX_ANSWER = 16 << 10
MAX_TITLE = 4 << 10
MAX_PASSAGE_TEXT = 2 << 20
MAX_DETAIL = 8 << 10
MAX_DIGEST = 128
MAX_GROUP = 512
MAX_PASSAGES = 512
MAX_SPANS = 256
MAX_STEPS = MAX_INDEX
MAX_GOLD = 256
MAX_QUOTES = 64
MAX_TRAIL = 64
MAX_WINDOWS = 64
"""Of one trail entry."""
MAX_ELEMENTS = 1024
"""Elements of one array, pairs of one map."""
