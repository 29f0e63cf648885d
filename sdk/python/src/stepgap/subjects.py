"""Ids, subjects and headers of the wire."""

from __future__ import annotations

import re
import secrets
import time

from .errors import ValidationError
from .limits import MAX_ID, MAX_INDEX

SCHEMA_VERSION = "1"

HEADER_SCHEMA = "Stepgap-Schema"
HEADER_DEADLINE = "Stepgap-Deadline"
HEADER_REPLY = "Stepgap-Reply"
HEADER_MSG_ID = "Nats-Msg-Id"

STREAM_LABELS = "STEPGAP_LABELS"
STREAM_REWARDS = "STEPGAP_REWARDS"
BUCKET_PASSAGES = "stepgap-passages"

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def valid_id(text: str) -> bool:
    """Whether text can be a run or rollout id: 1 to 128 of A-Z a-z 0-9 _ -."""
    return _ID.fullmatch(text) is not None


def check_id(field: str, text: object) -> None:
    """Raise a ValidationError that names field if text can't be an id."""
    if isinstance(text, str) and valid_id(text):
        return
    shown = repr(text)
    raise ValidationError(
        field,
        f"{shown[:40]} is not an id; use 1 to {MAX_ID} of the characters A-Z a-z 0-9 _ -",
    )


def check_index(index: object) -> None:
    """Raise a ValidationError if index can't be a step's."""
    if type(index) is not int or not 1 <= index <= MAX_INDEX:
        raise ValidationError("index", f"{index} is out of range; steps count from 1 to {MAX_INDEX}")


def fresh_run() -> str:
    """A run id that no other start has: labels and rewards under an id stand for good."""
    return f"run-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"


def fresh_rollout(group: str = "") -> str:
    """A rollout id that no other has; it starts with the group where that can stand in an id."""
    if valid_id(group) and len(group) <= MAX_ID - 17:
        return f"{group}-{secrets.token_hex(8)}"
    return f"r-{secrets.token_hex(8)}"


def step_subject(run: str, rollout: str, index: int) -> str:
    """Where a step is published."""
    return f"stepgap.steps.{run}.{rollout}.{index}"


def label_subject(run: str, rollout: str, index: int | str) -> str:
    """Where a step's label stands; index may be `*`."""
    return f"stepgap.labels.{run}.{rollout}.{index}"


def end_subject(run: str, rollout: str) -> str:
    """Where a rollout's end is published."""
    return f"stepgap.ends.{run}.{rollout}"


def reward_subject(run: str, rollout: str) -> str:
    """Where a rollout's reward stands; rollout may be `*`."""
    return f"stepgap.rewards.{run}.{rollout}"


def live_subject(kind: str, run: str, rollout: str, index: int) -> str:
    """Where a live check is asked."""
    return f"stepgap.live.{kind}.{run}.{rollout}.{index}"


def duration(seconds: float) -> str:
    """Seconds as the wire writes durations; 0 is "0", which means none."""
    if seconds == 0:
        return "0"
    return f"{max(1, round(seconds * 1000))}ms"
