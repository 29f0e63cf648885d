"""Which code points of a text each generated token covers.

Trainers have the token ids that were generated, and the text that they decode to. To
tokenize the text again may give other tokens; so the offsets are read off the decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["Decode", "offsets_of"]

Decode = Callable[[list[int]], str]
"""Decodes token ids, as the text given to StepGap was decoded."""

_UNFINISHED = "\ufffd"


def offsets_of(ids: Sequence[int], text: str, decode: Decode) -> list[tuple[int, int]]:
    """For each token the half-open range of code points of text that it completes.

    A token that ends in the middle of a character, or that is not shown, has an empty
    range; the character belongs to the token that completes it. Where the text is not what
    the ids decode to, tokens have ranges only as far as both agree.

    Args:
        ids: the token ids of a completion, without padding.
        text: what they decode to.
        decode: decodes ids, skipping special tokens if that is how text was made.
    """
    ends = _by_pieces(ids, text, decode)
    if ends is None:
        ends = _by_prefixes(ids, text, decode)
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


def _by_pieces(ids: Sequence[int], text: str, decode: Decode) -> list[int] | None:
    """Decodes a few tokens at a time; None if the pieces do not make up the text.

    A piece is decoded with the one before it, because tokenizers treat the beginning of a
    text in a way of their own.
    """
    ends: list[int] = []
    at, before, begin = 0, 0, 0  # the end in text; first token of the context; of the piece
    for i in range(len(ids)):
        context = decode(list(ids[before:begin]))
        whole = decode(list(ids[before : i + 1]))
        if not whole.startswith(context):
            return None
        piece = whole[len(context) :]
        if piece and (not piece.endswith(_UNFINISHED) or text.startswith(piece, at)):
            if not text.startswith(piece, at):
                return None
            at += len(piece)
            before, begin = begin, i + 1
        ends.append(at)
    return ends if at == len(text) else None


def _by_prefixes(ids: Sequence[int], text: str, decode: Decode) -> list[int]:
    """Decodes every beginning of the ids, which is slow and takes any tokenizer."""
    ends: list[int] = []
    at = 0
    for i in range(len(ids)):
        at = max(at, _agree(decode(list(ids[: i + 1])), text))
        ends.append(at)
    return ends


def _agree(a: str, b: str) -> int:
    """How many characters two texts have in common from their beginning."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
