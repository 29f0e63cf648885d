"""Tags, tokens and token rewards, without any trainer."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgap import Reward, Span, StepReward
from stepgap.adapters.episode import TurnReward
from stepgap.adapters.estimating import NOTHING, group_advantages, step_advantages, token_rewards
from stepgap.adapters.placing import events_of, token_advantages
from stepgap.adapters.tags import read_tags
from stepgap.adapters.tokens import offsets_of
from stepgap.advantages import grpo, process
from stepgap.spans import tokens_of
from tests.conftest import BRANDT, SALT_ROAD
from tests.test_spans import packaged

from . import rollouts, tiny

ODD = "Zoë wrote «it» — 北京 🧪🧪 שלום \u00a0\u200b<answer>  two  spaces </answer>\n"

Encode = Callable[[str], list[int]]
Decode = Callable[[list[int]], str]


def hugging_face(path: Path) -> tuple[Encode, Decode]:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer.from_file(str(path))
    made.no_truncation()
    made.no_padding()
    return lambda text: list(made.encode(text).ids), lambda ids: str(made.decode(ids))


def bpe() -> tuple[Encode, Decode]:
    return hugging_face(packaged("anthropic", "anthropic/tokenizer.json"))


def qwen() -> tuple[Encode, Decode]:
    tiktoken = pytest.importorskip("tiktoken")
    lines = packaged("dashscope", "dashscope/resources/qwen.tiktoken").read_text().splitlines()
    ranks = {base64.b64decode(t): int(rank) for t, rank in (line.split() for line in lines if line)}
    words = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    encoding = tiktoken.Encoding("qwen", pat_str=words, mergeable_ranks=ranks, special_tokens={})
    return encoding.encode, encoding.decode


def own() -> tuple[Encode, Decode]:
    made = tiny.tokenizer()
    return lambda text: list(made(text)["input_ids"]), lambda ids: str(made.decode(ids))


@pytest.fixture(params=[bpe, qwen, own], ids=["byte-level BPE", "qwen", "own BPE"])
def tokenizer(request: pytest.FixtureRequest) -> tuple[Encode, Decode]:
    made: tuple[Encode, Decode] = request.param()
    return made


@pytest.mark.parametrize("text", [*rollouts.ALL, ODD], ids=["honest", "wrong", "off", "garbled", "odd"])
def test_offsets_read_off_the_decoding_cover_the_text(tokenizer: tuple[Encode, Decode], text: str) -> None:
    encode, decode = tokenizer
    ids = encode(text)
    text = decode(ids)  # what a trainer has; a tokenizer may normalise
    offsets = offsets_of(ids, text, decode)
    assert len(offsets) == len(ids)
    assert "".join(text[a:b] for a, b in offsets) == text
    for i, (a, b) in enumerate(offsets):
        if a < b and decode([ids[i]]).strip("\ufffd"):
            assert text[a:b].strip() in decode(ids[: i + 1])


def test_offsets_of_ids_that_no_tokenizer_would_choose(tokenizer: tuple[Encode, Decode]) -> None:
    encode, decode = tokenizer
    ids = [i for c in "The Salt Road is by Ellen." for i in encode(c)]
    text = decode(ids)
    assert "".join(text[a:b] for a, b in offsets_of(ids, text, decode)) == text


def test_a_text_that_is_not_what_the_ids_decode_to_has_no_ranges_where_they_differ() -> None:
    encode, decode = own()
    ids = encode("one two three")
    offsets = offsets_of(ids, "one 2 three", decode)
    assert offsets[-1] == (4, 4)
    assert offsets_of([], "", decode) == []


def test_step_rewards_reach_the_tokens_of_their_spans(tokenizer: tuple[Encode, Decode]) -> None:
    encode, decode = tokenizer
    text = rollouts.OFF
    reading = read_tags(text)
    first, second = reading.steps
    claim = next(s for s in first.spans if s.kind == "claim")
    repair = next(s for s in second.spans if s.kind == "action")
    last = next(s for s in second.spans if s.kind == "claim")
    reward = Reward(
        process=0.2,
        steps=[
            StepReward(1, "irrelevant_evidence", "re_search", base=-0.05, base_at=claim, shape=0.1,
                       shape_at=repair, shape_step=2, reward=0.05),
            StepReward(2, "none", base=0.15, base_at=last, reward=0.15),
        ],
    )  # fmt: skip
    ids = encode(text)
    offsets = offsets_of(ids, text, decode)
    events = events_of(reward, offsets)
    assert events.lost == []
    assert [v for _, v in events.events] == [-0.05, 0.1, 0.15]
    assert len({t for t, _ in events.events}) == 3
    for (token, _), span in zip(events.events, (claim, repair, last), strict=True):
        assert decode(ids[: token + 1]).startswith(text[: span.end])
        assert not decode(ids[:token]).startswith(text[: span.end])
    other = [(3, 0.0), (5, -0.2)]
    got = token_advantages([events.events, other], [len(ids), 8])
    normal = process([[-0.05, 0.1, 0.15], [0.0, -0.2]])[0]
    for n, span in enumerate((claim, repair, last)):
        inner = tokens_of(Span(span.kind, span.start + 2, span.end), offsets)
        assert [got[0][t] for t in inner] == pytest.approx([normal[n]] * len(inner))


def test_an_ungraded_step_masks_its_stretch_alone() -> None:
    offsets = [(i, i + 1) for i in range(9)]
    reward = Reward(
        process=0.3,
        steps=[
            StepReward(1, "none", base=0.1, base_at=Span("claim", 0, 2), reward=0.1),
            StepReward(2, "ungraded", base_at=Span("claim", 3, 5)),
            StepReward(3, "none", base=0.2, base_at=Span("claim", 6, 8), reward=0.2),
        ],
    )
    events = events_of(reward, offsets).events
    assert events == [(1, 0.1), (4, None), (7, 0.2)]
    values = token_advantages([events, [(0, -0.3)]], [9, 1])[0]
    assert all(values[:2])
    assert values[2:5] == [0.0] * 3
    assert all(values[5:8])
    assert events_of(None, offsets).events == []
    assert events_of(Reward(reason="aborted"), offsets).events == []


def test_estimators_leave_out_what_was_not_scored() -> None:
    rewards = [[0.0, 0.3, 0.0], [0.0, 0.0, -0.2], token_rewards(None, 3), token_rewards([(1, 0.0)], 3)]
    mask = [[1, 1, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    assert rewards[3][1] == NOTHING
    got = group_advantages(rewards, mask, ["a"] * 4)
    want = grpo([0.3, -0.2, None, 0.0])
    assert [row[0] for row in got] == pytest.approx([w or 0.0 for w in want])
    assert got[0][2] == 0.0, "masked"
    steps = step_advantages(rewards, mask, ["a"] * 4)
    assert steps[2] == [0.0] * 3
    assert steps[3][0] == pytest.approx(process([[0.3], [-0.2], [0.0]])[2][0])
    assert steps[3][2] == 0.0, "nothing follows"
    assert all(math.isfinite(v) for row in (*got, *steps) for v in row)


def test_a_turns_reward_is_nan_until_it_is_settled() -> None:
    reward = TurnReward()
    assert math.isnan(float(reward))
    tokens = [0.0, 0.0]
    reward.settle(0.25)
    tokens[1] += reward
    assert tokens == [0.0, 0.25]
    assert type(tokens[1]) is float
    assert float(reward) == 0.25


def test_documents_of_the_rollouts_are_read() -> None:
    reading = read_tags(rollouts.HONEST)
    assert [s.passages for s in reading.steps] == [[SALT_ROAD], [BRANDT]]
    assert reading.answer == "Ribe"
    for step in reading.steps:
        for span in step.spans:
            assert rollouts.HONEST[span.start : span.end].strip() == rollouts.HONEST[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "queries", "answer"),
    [
        ("", [], ""),
        ("no tags", [], ""),
        ("<search> q", ["q"], ""),
        ("<search>q</search><information>cut off", ["q"], ""),
        ("<answer>a</answer> and <answer> b </answer>", [], "b"),
        ("</answer></think><search></search>", [""], ""),
        ("<information>Doc 1: my own</information><answer>a</answer>", [], "a"),
        ("<search>a<search>b</search>", ["a", "b"], ""),
    ],
)
def test_odd_completions_are_read_without_harm(text: str, queries: list[str], answer: str) -> None:
    reading = read_tags(text)
    assert [s.query for s in reading.steps] == queries
    assert reading.answer == answer
    for step in reading.steps:
        assert all(0 <= s.start <= s.end <= len(text) for s in step.spans)
