"""What to tell a policy of a gap while it generates, in the words of its model family.

    answer = await r.plan(query)            # or label = await r.step(...)
    text = hint(answer, "qwen")             # "" where there is nothing to say

A hint names the gap and the repair, and quotes the passage where one decided. It never says
what the right answer is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .messages import Gap, Label, LiveAnswer

__all__ = ["FAMILIES", "Family", "hint"]

Family = Literal["text", "tags", "qwen", "llama3"]
"""How a hint is wrapped: bare text, for the content of a chat message; tags, within the text
of agents such as Search-R1; or as a user's turn in the chat template of Qwen or Llama 3,
which ends the assistant's turn and begins its next."""

FAMILIES: Mapping[Family, str] = {
    "text": "{hint}",
    "tags": "\n<hint>{hint}</hint>\n",
    "qwen": "<|im_end|>\n<|im_start|>user\n{hint}<|im_end|>\n<|im_start|>assistant\n",
    "llama3": (
        "<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{hint}<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
}

_PLANNED: Mapping[Gap, str] = {
    "irrelevant_evidence": "This query does not ask for what the question needs next. Plan another one.",
    "missing_bridge": "This query skips a link: first search for what connects it to the question.",
    "contradicted_claim": "This query rests on a claim that the evidence contradicts. Correct that first.",
}
_DONE: Mapping[Gap, str] = {
    "irrelevant_evidence": "The passages do not tell what was asked for. Search again in other words.",
    "missing_bridge": (
        "A link is missing between the passages and the claim. Search for the entity that connects them."
    ),
    "contradicted_claim": "The passages contradict the last claim. Take it back and say what they do say.",
}

_SPECIAL = ("<|", "|>", "<hint>", "</hint>", "<information>", "</information>")


def hint(verdict: Label | LiveAnswer | None, family: Family = "text", *, longest_quote: int = 300) -> str:
    """The hint for a verdict; empty where there is no gap, no verdict, or none came in time.

    Args:
        verdict: what `Rollout.plan`, `probe` or `step` returned.
        family: how it is wrapped.
        longest_quote: characters of the deciding passage that are shown.
    """
    if verdict is None:
        return ""
    planned = isinstance(verdict, LiveAnswer) and verdict.kind == "plan"
    said = (_PLANNED if planned else _DONE).get(verdict.label)
    if said is None:
        return ""
    if isinstance(verdict, Label) and verdict.label == "contradicted_claim" and verdict.quotes:
        quote = _plain(verdict.quotes[0].text)
        said += f' They say: "{quote[:longest_quote]}"'
    return FAMILIES[family].replace("{hint}", said)


def _plain(text: str) -> str:
    """A quote without what a chat template or a parser of tags would take for its own."""
    before = None
    while before != text:
        before = text
        for mark in _SPECIAL:
            text = text.replace(mark, "")
    return " ".join(text.split())
