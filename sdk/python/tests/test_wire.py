"""The wire: byte for byte as Go writes it, and safe on bytes from strangers."""

from __future__ import annotations

import base64
import contextlib
import copy
import dataclasses
import json
import math
import pickle
import types
import typing
from pathlib import Path
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgap import ValidationError, WireError, messages
from stepgap.codec import RewardReader, decode, digest, encode, passage_digest
from stepgap.messages import (
    Label,
    Passage,
    Prior,
    Reward,
    RolloutEnd,
    Scores,
    Span,
    Step,
    StepRef,
    TrailEntry,
)
from stepgap.prepare import prepare_end, prepare_step
from stepgap.subjects import duration, fresh_rollout, valid_id
from stepgap.validate import validate_end, validate_label, validate_reward, validate_step

from .conftest import GOLDEN

VECTORS = sorted(GOLDEN.glob("*.json"))
TEXT = "Ada Lovelace was born in 1815."


def from_json(hint: Any, value: Any) -> Any:
    """A message from the JSON of a golden vector."""
    args = typing.get_args(hint)
    if typing.get_origin(hint) is types.UnionType:
        return None if value is None else from_json(args[0], value)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        assert isinstance(hint, type)
        return hint(**{name: from_json(hints[name], v) for name, v in value.items()})
    if typing.get_origin(hint) is list:
        return [from_json(args[0], v) for v in value or []]
    if hint is bytes:
        return base64.b64decode(value or "")
    return float(value) if hint is float else value


@pytest.mark.parametrize("path", VECTORS, ids=lambda p: p.stem)
def test_golden_vectors(path: Path) -> None:
    file = json.loads(path.read_text())
    body = path.with_suffix(".msgpack").read_bytes()
    cls = getattr(messages, file["type"])
    message = from_json(cls, file["value"])
    assert encode(message) == body, "message -> bytes"
    assert decode(body, cls) == message, "bytes -> message"
    assert digest(body) == file["digest"]


@pytest.mark.parametrize("path", [p for p in VECTORS if p.stem.startswith("reward")], ids=lambda p: p.stem)
def test_a_reward_read_with_late_steps_is_the_same(path: Path) -> None:
    body = path.with_suffix(".msgpack").read_bytes()
    reader = RewardReader()
    for _ in range(3):
        assert reader.read(body) == decode(body, Reward)
        assert encode(reader.read(body)) == body
        assert pickle.loads(pickle.dumps(reader.read(body))) == decode(body, Reward)  # noqa: S301
        assert copy.deepcopy(reader.read(body)) == decode(body, Reward)
        assert "StepReward" in repr(reader.read(body)) or not reader.read(body).steps
        with pytest.raises(AttributeError, match="no attribute 'stepz'"):
            _ = reader.read(body).stepz
        for bad in (body[:-1], body + b"\xc0", b"\x90", b"", b"\x81\xa1p\xcb\x7f\xf8" + bytes(6)):
            with pytest.raises(WireError):
                reader.read(bad)
    for bad in (b"\x81\xa2st\x91\x01", b"\x81\xa2st\xa1x", b"\x81\xa2st\x91\x81\xa1l\x01"):
        with pytest.raises(WireError):
            _ = reader.read(bad).steps


def test_there_are_golden_vectors_of_every_message() -> None:
    kinds = {json.loads(p.read_text())["type"] for p in VECTORS}
    assert kinds == {"Step", "RolloutEnd", "Label", "Reward", "Dead", "LiveAnswer", "Transcript", "Work"}


def test_a_cut_body_is_refused() -> None:
    for path in VECTORS:
        body = path.with_suffix(".msgpack").read_bytes()
        cls = getattr(messages, json.loads(path.read_text())["type"])
        for cut in range(0, len(body), 1 + len(body) // 200):
            with pytest.raises(WireError):
                decode(body[:cut], cls)
        with pytest.raises(WireError):
            decode(body + b"\xc0", cls)


@pytest.mark.parametrize(
    "body",
    {
        "array of 16 million": b"\xdd\x00\xff\xff\xff",
        "map of 4 billion": b"\xdf\xff\xff\xff\xff",
        "string of 4 GB": b"\x81\xa1q\xdb\xff\xff\xff\xff",
        "array in a known key": b"\x81\xa2ps\xdd\x00\xff\xff\xff",
        "not a map": b"\xc0",
        "empty": b"",
        "reserved type": b"\x81\xa1q\xc1",
        "deep": b"\x81\xa1h" + b"\x91" * 2000 + b"\xc0",
        "many elements": b"\x81\xa1h\xdc\xff\xff" + bytes(0xFFFF),
        "an array for a string": b"\x81\xa1q\x91\x01",
        "a number for a string": b"\x81\xa1q\x01",
        "a string for a list": b"\x81\xa2ps\xa1x",
        "a list of numbers for passages": b"\x81\xa2ps\x91\x01",
        "not UTF-8": b"\x81\xa1q\xa1\xff",
        "a map keyed by a list": b"\x81\x90\xa1x",
        "over the limit": b"\x81\xa1q\xdb\x00\x40\x00\x00" + bytes(4 << 20),
    }.items(),
    ids=lambda item: item[0],
)
def test_hostile_bytes_are_refused(body: tuple[str, bytes]) -> None:
    with pytest.raises(WireError):
        decode(body[1], Step)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(body: bytes) -> None:
    with contextlib.suppress(WireError):
        decode(body, Step)
    with contextlib.suppress(WireError):
        decode(body, Label)
    with contextlib.suppress(WireError):
        assert isinstance(RewardReader().read(body).steps, list)


def test_unknown_keys_are_ignored_and_nil_is_nothing() -> None:
    body = msgpack.packb({"q": "?", "zz": [1, {"a": None}], "ps": None, "i": None})
    read = decode(body, Step)
    assert (read.question, read.passages, read.index) == ("?", [], 0)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_no_number_that_is_none_comes_in_or_goes_out(number: float) -> None:
    for body in ({"p": number}, {"oc": {"em": number}}, {"st": [{"b": number}]}):
        with pytest.raises(WireError, match="not a number"):
            decode(msgpack.packb(body), Reward)
    with pytest.raises(ValidationError):
        encode(Reward(process=number))
    for reward in (Reward(process=number), Reward(reason="x", steps=[messages.StepReward(shape=number)])):
        reward.run, reward.rollout = "r", "o"
        with pytest.raises(ValidationError, match="not a number"):
            validate_reward(reward)
    label = Label("r", "o", 1, label="none", trail=[TrailEntry(scores=Scores(number, 0, 0))])
    with pytest.raises(ValidationError, match="scores"):
        validate_label(label)


def test_null_and_ungraded_say_why() -> None:
    with pytest.raises(ValidationError, match="says why"):
        validate_reward(Reward("r", "o"))
    validate_reward(Reward("r", "o", reason="no_steps"))
    with pytest.raises(ValidationError, match="says why"):
        validate_label(Label("r", "o", 1))
    with pytest.raises(ValidationError, match="does not belong"):
        validate_label(Label("r", "o", 1, label="none", repair="retract"))
    validate_label(Label("r", "o", 1, label="contradicted_claim", repair="retract"))


def valid_step() -> Step:
    return Step(
        run="run1",
        rollout="r_1",
        index=2,
        question="When was Ada Lovelace born?",
        query="Ada Lovelace birth",
        claim="She was born in 1815.",
        passages=[Passage(passage_digest("Ada", TEXT), "Ada", 1, TEXT)],
        history=[Prior(1, "Ada")],
        spans=[Span("claim", 1, 5)],
        saw=1,
    )


def change(field: str, value: Any) -> Step:
    step = valid_step()
    target: Any = step
    *path, last = field.split(".")
    for name in path:
        target = getattr(target, name)
        target = target[0] if isinstance(target, list) else target
    setattr(target, last, value)
    return step


@pytest.mark.parametrize(
    ("field", "value", "named", "reason"),
    [
        ("run", "a.b", "run", "malformed"),
        ("run", "", "run", "malformed"),
        ("rollout", "x" * 129, "rollout", "malformed"),
        ("rollout", "id\n", "rollout", "malformed"),
        ("index", 0, "index", "malformed"),
        ("index", 1001, "index", "malformed"),
        ("index", True, "index", "malformed"),
        ("kind", "", "kind", "malformed"),
        ("question", "", "question", "malformed"),
        ("query", "q" * (16 << 10) + "q", "query", "too_large"),
        ("query", "é" * (8 << 10) + "q", "query", "too_large"),
        ("text", "\ud800", "text", "malformed"),
        ("text", None, "text", "malformed"),
        ("passages.text", "other", "passages[0].digest", "malformed"),
        ("passages.text", "", "passages[0]", "malformed"),
        ("passages.ref", "a" * 64, "passages[0]", "malformed"),
        ("passages.by_step", 3, "passages[0].by_step", "malformed"),
        ("passages.title", "t" * 4097, "passages[0].title", "too_large"),
        ("history.index", 2, "history[0].index", "malformed"),
        ("spans.kind", "x", "spans[0].kind", "malformed"),
        ("spans.end", 0, "spans[0]", "malformed"),
        ("spans.start", 1.5, "spans[0]", "malformed"),
        ("saw", 2, "saw", "malformed"),
        ("passages", [Passage()] * 513, "passages", "too_large"),
    ],
)
def test_a_wrong_step_names_its_field(field: str, value: Any, named: str, reason: str) -> None:
    validate_step(valid_step())
    with pytest.raises(ValidationError) as caught:
        validate_step(change(field, value))
    assert caught.value.field == named
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("end", "named"),
    [
        (RolloutEnd("r", "o", steps=[StepRef(1, "ab")]), "steps[0].digest"),
        (RolloutEnd("r", "o", steps=[StepRef(2, "a" * 64), StepRef(2, "a" * 64)]), "steps[1].index"),
        (RolloutEnd("r", "o", gold=["\ud800"]), "gold[0]"),
        (RolloutEnd("r", "o", gold=["x"] * 257), "gold"),
        (RolloutEnd("r", "o", group="g" * 513), "group"),
        (RolloutEnd("r", "o", group_size=-1), "group_size"),
        (RolloutEnd("r", "o", deadline_ms=-1), "deadline_ms"),
        (RolloutEnd("r", ""), "rollout"),
    ],
)
def test_a_wrong_end_names_its_field(end: RolloutEnd, named: str) -> None:
    with pytest.raises(ValidationError) as caught:
        validate_end(end)
    assert caught.value.field == named


def test_prepared_bodies_leave_the_ids_to_the_subject() -> None:
    step = valid_step()
    step.passages[0].digest = ""
    prepared = prepare_step(step)
    assert prepared.subject == "stepgap.steps.run1.r_1.2"
    assert prepared.message_id == f"{prepared.subject} {digest(prepared.body)}"
    read = decode(prepared.body, Step)
    assert (read.run, read.rollout, read.index) == ("", "", 0)
    assert read.passages[0].digest == passage_digest("Ada", TEXT)
    end = prepare_end(RolloutEnd("r", "o"))
    assert (end.subject, end.body) == ("stepgap.ends.r.o", b"\x81\xa2st\x90")


def test_a_message_that_is_too_large_says_so() -> None:
    step = valid_step()
    step.passages = [Passage(by_step=1, text="x" * (2 << 20), title=str(i)) for i in range(3)]
    with pytest.raises(ValidationError, match="by ref") as caught:
        prepare_step(step)
    assert caught.value.reason == "too_large"


def test_ids_and_durations() -> None:
    assert fresh_rollout("q12").startswith("q12-")
    assert valid_id(fresh_rollout("no id: " + "x" * 300))
    assert valid_id(fresh_rollout("x" * 128))
    assert [duration(s) for s in (0, 0.0001, 1.5, 1800)] == ["0", "1ms", "1500ms", "1800000ms"]
