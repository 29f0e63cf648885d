"""Messages to bytes and back, as Go's `pkg/schema` does it, byte for byte."""

from __future__ import annotations

import hashlib
from typing import Any, TypeVar

import msgpack

from ._compile import codec_of
from .errors import ValidationError, WireError
from .limits import MAX_ELEMENTS, MAX_MESSAGE
from .messages import Dead, Label, LiveAnswer, Reward, RolloutEnd, Step, StepReward, Transcript, Work

__all__ = ["RewardReader", "decode", "digest", "encode", "passage_digest"]

M = TypeVar("M", Step, RolloutEnd, Label, Reward, Dead, LiveAnswer, Transcript, Work)


def encode(message: Step | RolloutEnd | Label | Reward | Dead | LiveAnswer | Transcript | Work) -> bytes:
    """A MessagePack map with the keys in the order of the fields.

    Equal messages give equal bytes. Fields are not validated (see `stepgap.validate`).

    Raises:
        ValidationError: a string is no valid Unicode, a number is none, or the body is
            larger than `MAX_MESSAGE` bytes.
    """
    try:
        body = codec_of(type(message)).write(message)
    except WireError as e:
        raise ValidationError("message", str(e)) from e
    return pack(body)


def pack(body: dict[str, Any]) -> bytes:
    """The bytes of a map of the wire."""
    try:
        packed: bytes = msgpack.packb(body, use_bin_type=True)
    except (TypeError, ValueError, OverflowError) as e:  # UnicodeEncodeError is a ValueError
        raise ValidationError("message", f"can't be encoded ({e}); check it with stepgap.validate") from e
    if len(packed) > MAX_MESSAGE:
        raise ValidationError(
            "message",
            f"{len(packed)} bytes encoded, the limit is {MAX_MESSAGE}; publish long passages by ref",
            "too_large",
        )
    return packed


def decode(body: bytes, cls: type[M]) -> M:
    """The message in a MessagePack body. Unknown keys are ignored.

    Raises:
        WireError: the body is no message of the class, or holds a number that is none.
    """
    return codec_of(cls).read(unpack(body), cls.__name__.lower())  # type: ignore[no-any-return]


class RewardReader:
    """Reads many rewards, each without its steps until these are asked for.

    Most of what reading a reward costs are its steps, which a trainer that takes one
    number a rollout never looks at. Not for use by several threads at once.
    """

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self._unpacker = msgpack.Unpacker(raw=False, max_buffer_size=MAX_MESSAGE, **_LIMITS)

    def read(self, body: bytes) -> Reward:
        """The reward in a body.

        Raises:
            WireError: as `decode`. A step of the wrong form is found when the steps are
                asked for.
        """
        # What NaN and infinity start with, as float64; and what any float32 starts with. It
        # may stand in a text as well: then the reward is merely read whole.
        if b"\xcb\x7f" in body or b"\xcb\xff" in body or b"\xca" in body:
            return decode(body, Reward)
        try:
            fields, steps = self._unpack(body)
        except (ValueError, msgpack.UnpackException, TypeError):
            self._renew()
            return decode(body, Reward)  # says what is wrong
        reward: Reward = _read_reward(fields, "reward")
        if steps:
            reward.keep_steps(steps)
        return reward

    def _unpack(self, body: bytes) -> tuple[dict[str, Any], bytes]:
        unpacker = self._unpacker
        unpacker.feed(body)
        start = unpacker.tell()
        unpack = unpacker.unpack
        fields: dict[str, Any] = {}
        steps = b""
        for _ in range(unpacker.read_map_header()):
            key = unpack()
            if key == "st":
                begin = unpacker.tell() - start
                unpacker.skip()
                steps = body[begin : unpacker.tell() - start]
            else:
                fields[key] = unpack()
        if unpacker.tell() - start != len(body):
            raise ValueError("bytes after the end of the map")
        return fields, steps


_LIMITS: dict[str, Any] = {
    "max_array_len": MAX_ELEMENTS,
    "max_map_len": MAX_ELEMENTS,
    "strict_map_key": True,
}
_read_reward = codec_of(Reward).read
_read_step = codec_of(StepReward).read


def read_steps(body: bytes) -> list[StepReward]:
    """The steps of a reward, from their part of its body."""
    try:
        steps = msgpack.unpackb(body, raw=False, **_LIMITS)
    except (ValueError, msgpack.UnpackException) as e:
        raise WireError(f"reward.steps: {e or type(e).__name__}") from e
    if steps is None:
        return []
    if type(steps) is not list or not all(type(step) is dict for step in steps):
        raise WireError("reward.steps is not an array of maps")
    return [_read_step(step, "reward.steps") for step in steps]


def unpack(body: bytes) -> dict[str, Any]:
    """The map in a body of bounded size."""
    if len(body) > MAX_MESSAGE:
        raise WireError(f"{len(body)} bytes, the limit is {MAX_MESSAGE}")
    try:
        value = msgpack.unpackb(body, raw=False, **_LIMITS)
    except (ValueError, msgpack.UnpackException) as e:  # ExtraData, StackError, FormatError are ValueErrors
        raise WireError(f"no MessagePack body: {e or type(e).__name__}") from e
    if type(value) is not dict:
        raise WireError(f"holds a {type(value).__name__}; expected a map")
    return value


def digest(body: bytes) -> str:
    """Hex SHA-256 of a body as published."""
    return hashlib.sha256(body).hexdigest()


def passage_digest(title: str, text: str) -> str:
    """Hex SHA-256 of title, a NUL byte, and text."""
    return hashlib.sha256(f"{title}\0{text}".encode()).hexdigest()
