"""Errors of StepGap's client. All are a `StepgapError`.

Each says what was being done, what is wrong, and what to do about it. What the
server refuses is told apart by its error codes, never by their texts.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "AlreadyThere",
    "BackPressure",
    "ConnectionLost",
    "DeadlineExceeded",
    "ForkedError",
    "IdReused",
    "RolloutClosed",
    "ServerRefused",
    "StepgapError",
    "ValidationError",
    "WireError",
]


class StepgapError(Exception):
    """What all errors of this package are."""


class ValidationError(StepgapError, ValueError):
    """A message is wrong and never left the process."""

    field: str
    """Path of the field that is wrong, such as `passages[3].text`."""
    problem: str
    """What is wrong with it, and what would be right."""
    reason: Literal["malformed", "too_large"]

    def __init__(
        self, field: str, problem: str, reason: Literal["malformed", "too_large"] = "malformed"
    ) -> None:
        super().__init__(f"field {field}: {problem}")
        self.field, self.problem, self.reason = field, problem, reason

    def __reduce__(self) -> tuple[type[ValidationError], tuple[str, str, str]]:
        return type(self), (self.field, self.problem, self.reason)


class WireError(StepgapError):
    """Bytes that came in are no message of this schema."""


class BackPressure(StepgapError):
    """The pipeline's queue is full; nothing was accepted.

    Slow down and call again; or let `connect(backpressure_wait=...)` do it.
    """


class AlreadyThere(StepgapError):
    """Another message stands under this subject, and stays."""


class IdReused(AlreadyThere):
    """The id was used before, for other content.

    A label or reward that stands under an id is never replaced. Take a fresh run id.
    """


class DeadlineExceeded(StepgapError, TimeoutError):
    """No word came in time. Whether a publish was accepted is not known.

    To call again with the same content is safe: it is recognised.
    """


class ConnectionLost(StepgapError, ConnectionError):
    """The server can't be reached, or the client is closed."""


class ServerRefused(StepgapError):
    """The server refused for a reason that waiting does not mend."""

    code: int
    """JetStream's error code, or 0 where it gave none."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class RolloutClosed(StepgapError):
    """The rollout has ended; nothing can be added to it."""


class ForkedError(StepgapError):
    """The client was made before a fork, and this is the child process.

    A connection can't be shared by two processes. Make a client in the child.
    """
