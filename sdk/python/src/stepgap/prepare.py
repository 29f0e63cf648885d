"""Steps and ends as they go onto the wire: validated, without the ids, which the subject holds."""

from __future__ import annotations

from dataclasses import dataclass

from ._compile import codec_of
from .codec import digest, pack, passage_digest
from .messages import RolloutEnd, Step
from .subjects import end_subject, step_subject
from .validate import validate_end, validate_step

_write_step = codec_of(Step).write
_write_end = codec_of(RolloutEnd).write


@dataclass(slots=True)
class Prepared:
    """A message that is ready to go: its subject, its body, and the body's hex SHA-256."""

    subject: str
    body: bytes
    digest: str

    @property
    def message_id(self) -> str:
        """Subject and digest: a publisher's retry is recognised, and other content never is."""
        return f"{self.subject} {self.digest}"


def prepare_step(step: Step, *, verified: bool = False) -> Prepared:
    """Fill in the digests of the passages, validate and encode.

    Args:
        step: the step, with its ids.
        verified: the digests that passages have were made from their texts.

    Raises:
        ValidationError: it is wrong, or too large.
    """
    known = True
    for passage in step.passages:
        if passage.digest:
            known = known and verified
        elif passage.ref:
            passage.digest = passage.ref
        elif isinstance(passage.title, str) and isinstance(passage.text, str):
            passage.digest = _digest_of(passage.title, passage.text)
    validate_step(step, digests=not known)
    fields = _write_step(step)
    for key in ("run", "ro", "i"):
        del fields[key]
    body = pack(fields)
    return Prepared(step_subject(step.run, step.rollout, step.index), body, digest(body))


def prepare_end(end: RolloutEnd) -> Prepared:
    """Validate and encode.

    Raises:
        ValidationError: it is wrong, or too large.
    """
    validate_end(end)
    fields = _write_end(end)
    del fields["run"], fields["ro"]
    body = pack(fields)
    return Prepared(end_subject(end.run, end.rollout), body, digest(body))


def _digest_of(title: str, text: str) -> str:
    try:
        return passage_digest(title, text)
    except UnicodeEncodeError:
        return ""  # the validation names the field
