"""The messages of StepGap's wire, as Go's `pkg/schema` has them.

Text offsets count code points, as Python strings do. A number that is None was not
given; it is never 0. `Step`, `RolloutEnd` and what they hold are written by clients,
the rest is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Gap = Literal["none", "contradicted_claim", "irrelevant_evidence", "missing_bridge", "ungraded"]
"""A step's label. "ungraded" is none: the step could not be judged, and `reason` says why."""
Repair = Literal["none", "retract", "re_search", "bridge_search"]
"""The action that mends a gap."""
Kind = Literal["search", "conclusion"]
"""A search is a query, its passages and what was claimed from them; a conclusion draws the answer."""
LiveKind = Literal["plan", "probe", "relevance"]
SpanKind = Literal["plan", "action", "claim", "answer"]
QuoteMatch = Literal["exact", "folded", "near", "window"]

GAPS: tuple[Gap, ...] = (
    "none",
    "contradicted_claim",
    "irrelevant_evidence",
    "missing_bridge",
    "ungraded",
)
REPAIRS: dict[Gap, Repair] = {
    "none": "none",
    "contradicted_claim": "retract",
    "irrelevant_evidence": "re_search",
    "missing_bridge": "bridge_search",
    "ungraded": "none",
}
"""The repair of each label."""


def _key(key: str, *, always: bool = False) -> dict[str, Any]:
    """Names the field on the wire; `always` writes it even where it is empty."""
    return {"key": key, "always": always}


@dataclass(slots=True)
class Span:
    """A half-open range [start, end) of code points in the rollout's text as given."""

    kind: SpanKind = field(metadata=_key("k", always=True))
    start: int = field(metadata=_key("s", always=True))
    end: int = field(metadata=_key("e", always=True))


@dataclass(slots=True)
class Passage:
    """One retrieved text: what the retriever returned, never a grader's words."""

    digest: str = field(default="", metadata=_key("d", always=True))
    """Hex SHA-256 of title, NUL, text; filled in when the step is published."""
    title: str = field(default="", metadata=_key("t"))
    by_step: int = field(default=0, metadata=_key("b", always=True))
    """Index of the step that fetched it."""
    text: str = field(default="", metadata=_key("x"))
    ref: str = field(default="", metadata=_key("r"))
    """Digest under which the text was published before, in place of the text."""


@dataclass(slots=True)
class Prior:
    """What a step needs to know of an earlier one."""

    index: int = field(metadata=_key("i", always=True))
    query: str = field(default="", metadata=_key("q"))
    claim: str = field(default="", metadata=_key("c"))


@dataclass(slots=True)
class Step:
    """One sub-goal of a rollout: the query, the passages it brought, what was then claimed."""

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    index: int = field(default=0, metadata=_key("i"))
    """Steps count from 1."""
    kind: Kind = field(default="search", metadata=_key("k", always=True))
    question: str = field(default="", metadata=_key("q", always=True))
    plan: str = field(default="", metadata=_key("p"))
    query: str = field(default="", metadata=_key("qy"))
    text: str = field(default="", metadata=_key("tx"))
    """What the policy wrote after the evidence, as written."""
    claim: str = field(default="", metadata=_key("c"))
    """The sentences of `text` that assert facts; empty: a stage reads them from `text`."""
    answer: str = field(default="", metadata=_key("a"))
    passages: list[Passage] = field(default_factory=list, metadata=_key("ps"))
    history: list[Prior] = field(default_factory=list, metadata=_key("h"))
    spans: list[Span] = field(default_factory=list, metadata=_key("sp"))
    saw: int = field(default=0, metadata=_key("sw"))
    """Highest index whose label the policy had seen when it wrote this step."""


@dataclass(slots=True)
class StepRef:
    """A step of an ended rollout and the digest of its body."""

    index: int = field(metadata=_key("i", always=True))
    digest: str = field(metadata=_key("d", always=True))


@dataclass(slots=True)
class RolloutEnd:
    """A rollout is over, and what it consisted of."""

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    question: str = field(default="", metadata=_key("q"))
    steps: list[StepRef] = field(default_factory=list, metadata=_key("st", always=True))
    answer: str = field(default="", metadata=_key("a"))
    gold: list[str] = field(default_factory=list, metadata=_key("g"))
    group: str = field(default="", metadata=_key("gr"))
    group_size: int = field(default=0, metadata=_key("gs"))
    aborted: bool = field(default=False, metadata=_key("ab"))
    abort_reason: str = field(default="", metadata=_key("ar"))
    deadline_ms: int = field(default=0, metadata=_key("dl"))
    """How long missing labels are waited for, in milliseconds; 0: the aggregator's default."""


@dataclass(slots=True)
class ToolCall:
    """What an assistant asked a tool for."""

    id: str = field(default="", metadata=_key("i"))
    name: str = field(default="", metadata=_key("n", always=True))
    arguments: str = field(default="", metadata=_key("a"))
    """JSON, as the model wrote it."""


@dataclass(slots=True)
class ChatMessage:
    """One message of a chat with tools; `role` is system, user, assistant or tool."""

    role: str = field(default="", metadata=_key("r", always=True))
    content: str = field(default="", metadata=_key("c"))
    reasoning_content: str = field(default="", metadata=_key("rc"))
    calls: list[ToolCall] = field(default_factory=list, metadata=_key("tc"))
    tool_call_id: str = field(default="", metadata=_key("ci"))
    name: str = field(default="", metadata=_key("n"))


@dataclass(slots=True)
class Document:
    """A retrieved text as a trainer has it."""

    title: str = field(default="", metadata=_key("t"))
    text: str = field(default="", metadata=_key("x", always=True))


@dataclass(slots=True)
class Turn:
    """One turn of a policy: a thought, then a search with what it brought, or an answer."""

    think: str = field(default="", metadata=_key("t"))
    query: str = field(default="", metadata=_key("q"))
    passages: list[Document] = field(default_factory=list, metadata=_key("ps"))
    answer: str = field(default="", metadata=_key("a"))


@dataclass(slots=True)
class Transcript:
    """A whole rollout as text, messages or turns; the pipeline cuts it into steps."""

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    format: str = field(default="", metadata=_key("f"))
    """How `text` is written; empty or "auto" detects it."""
    prompt: str = field(default="", metadata=_key("p"))
    text: str = field(default="", metadata=_key("tx"))
    messages: list[ChatMessage] = field(default_factory=list, metadata=_key("ms"))
    turns: list[Turn] = field(default_factory=list, metadata=_key("tu"))
    question: str = field(default="", metadata=_key("q"))
    answer: str = field(default="", metadata=_key("a"))
    gold: list[str] = field(default_factory=list, metadata=_key("g"))
    group: str = field(default="", metadata=_key("gr"))
    group_size: int = field(default=0, metadata=_key("gs"))
    step_deadline_ms: int = field(default=0, metadata=_key("sd"))
    deadline_ms: int = field(default=0, metadata=_key("dl"))


@dataclass(slots=True)
class Quote:
    """A verbatim span of a passage, verified by code."""

    passage: str = field(default="", metadata=_key("d", always=True))
    title: str = field(default="", metadata=_key("t"))
    by_step: int = field(default=0, metadata=_key("b", always=True))
    start: int = field(default=0, metadata=_key("s", always=True))
    end: int = field(default=0, metadata=_key("e", always=True))
    text: str = field(default="", metadata=_key("x", always=True))
    match: QuoteMatch = field(default="exact", metadata=_key("m", always=True))


@dataclass(slots=True)
class Scores:
    """Probabilities of the NLI model; they sum to 1."""

    entailment: float = field(metadata=_key("e", always=True))
    neutral: float = field(metadata=_key("n", always=True))
    contradiction: float = field(metadata=_key("c", always=True))


@dataclass(slots=True)
class Window:
    """A stretch of a passage, anchored to its sentences, that a premise was made of."""

    passage: str = field(default="", metadata=_key("d", always=True))
    by_step: int = field(default=0, metadata=_key("b", always=True))
    start: int = field(default=0, metadata=_key("s", always=True))
    end: int = field(default=0, metadata=_key("e", always=True))
    titled: bool = field(default=False, metadata=_key("t"))
    """The passage's title stands before the stretch, or in place of a pronoun at its head."""


@dataclass(slots=True)
class TrailEntry:
    """What one stage did with a step."""

    stage: str = field(default="", metadata=_key("st", always=True))
    outcome: str = field(default="", metadata=_key("o", always=True))
    judge: str = field(default="", metadata=_key("j"))
    model: str = field(default="", metadata=_key("m"))
    prompt: str = field(default="", metadata=_key("pv"))
    scores: Scores | None = field(default=None, metadata=_key("sc"))
    premise: str = field(default="", metadata=_key("pr"))
    windows: list[Window] = field(default_factory=list, metadata=_key("wn"))
    """What `premise` was made of, in order: the windows that decided."""
    hypothesis: str = field(default="", metadata=_key("hy"))
    confidence: float | None = field(default=None, metadata=_key("cf"))
    detail: str = field(default="", metadata=_key("dt"))
    flags: list[str] = field(default_factory=list, metadata=_key("fl"))
    latency_us: int = field(default=0, metadata=_key("us"))
    calls: int = field(default=0, metadata=_key("n"))
    tokens_in: int = field(default=0, metadata=_key("ti"))
    tokens_out: int = field(default=0, metadata=_key("to"))
    tokens_cached: int = field(default=0, metadata=_key("tc"))
    cache_hit: bool = field(default=False, metadata=_key("ch"))


@dataclass(slots=True)
class Facts:
    """The parts of a step that rewards are computed from."""

    kind: Kind = field(default="search", metadata=_key("k", always=True))
    query: str = field(default="", metadata=_key("q"))
    text: str = field(default="", metadata=_key("tx"))
    claim: str = field(default="", metadata=_key("c"))
    answer: str = field(default="", metadata=_key("a"))
    entities: list[str] = field(default_factory=list, metadata=_key("en"))
    spans: list[Span] = field(default_factory=list, metadata=_key("sp"))
    saw: int = field(default=0, metadata=_key("sw"))
    abstains: bool = field(default=False, metadata=_key("ab"))


@dataclass(slots=True)
class Label:
    """The immutable verdict on one step."""

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    index: int = field(default=0, metadata=_key("i"))
    digest: str = field(default="", metadata=_key("d"))
    label: Gap = field(default="ungraded", metadata=_key("l", always=True))
    repair: Repair = field(default="none", metadata=_key("r", always=True))
    stage: str = field(default="", metadata=_key("st", always=True))
    """The stage that gave the label."""
    reason: str = field(default="", metadata=_key("rs"))
    """Why it is ungraded, or none without entailment."""
    detail: str = field(default="", metadata=_key("dt"))
    """One sentence for people."""
    quotes: list[Quote] = field(default_factory=list, metadata=_key("qs"))
    facts: Facts | None = field(default=None, metadata=_key("f"))
    trail: list[TrailEntry] = field(default_factory=list, metadata=_key("tr"))
    accepted_ns: int = field(default=0, metadata=_key("at"))
    """When the server accepted the step, Unix nanoseconds."""

    @property
    def graded(self) -> bool:
        """Whether the step got a verdict."""
        return self.label != "ungraded"


@dataclass(slots=True)
class StepReward:
    """One step's part of a reward. None where none was given."""

    index: int = field(default=0, metadata=_key("i", always=True))
    label: Gap = field(default="ungraded", metadata=_key("l", always=True))
    repair: Repair = field(default="none", metadata=_key("r", always=True))
    stage: str = field(default="", metadata=_key("st"))
    reason: str = field(default="", metadata=_key("rs"))
    base: float | None = field(default=None, metadata=_key("b"))
    """The reward for the label; anchored at the end of `base_at`."""
    base_at: Span | None = field(default=None, metadata=_key("ba"))
    base_note: str = field(default="", metadata=_key("bn"))
    shape: float | None = field(default=None, metadata=_key("s"))
    """The reward for how the gap was repaired; anchored at the end of `shape_at`."""
    shape_at: Span | None = field(default=None, metadata=_key("sa"))
    shape_step: int = field(default=0, metadata=_key("ss"))
    """The repairing step, whose action `shape_at` is."""
    shape_reason: str = field(default="", metadata=_key("sr"))
    reward: float | None = field(default=None, metadata=_key("t"))
    """Base plus shape; None where both are."""


@dataclass(slots=True)
class Outcome:
    """Scores of the final answer in [0, 1]; None where there is no gold answer."""

    em: float | None = field(default=None, metadata=_key("em"))
    f1: float | None = field(default=None, metadata=_key("f1"))
    cover_em: float | None = field(default=None, metadata=_key("ce"))


class _LateSteps:
    """Where a reward keeps its steps as they came, until they are asked for."""

    __slots__ = ("_late_steps",)

    _late_steps: bytes

    def keep_steps(self, body: bytes) -> None:
        """Take the part of the body that holds the steps, in place of the steps."""
        self._late_steps = body
        object.__delattr__(self, "steps")

    def __getattr__(self, name: str) -> Any:
        # Only called where a slot is empty.
        if name != "steps":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        from .codec import read_steps

        steps = read_steps(self._late_steps)
        object.__setattr__(self, name, steps)
        return steps


@dataclass(slots=True)
class Reward(_LateSteps):
    """A rollout's typed rewards.

    Of one that was received, the steps are made when they are first asked for, which is
    when a `WireError` says that they are malformed.
    """

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    group: str = field(default="", metadata=_key("gr"))
    group_size: int = field(default=0, metadata=_key("gs"))
    process: float | None = field(default=None, metadata=_key("p"))
    """Sum of the steps' rewards, without the outcome; None: the reward is null, see `reason`."""
    reason: str = field(default="", metadata=_key("rs"))
    detail: str = field(default="", metadata=_key("dt"))
    steps: list[StepReward] = field(default_factory=list, metadata=_key("st"))
    outcome: Outcome = field(default_factory=Outcome, metadata=_key("oc", always=True))
    answer: str = field(default="", metadata=_key("a"))
    graded: int = field(default=0, metadata=_key("g", always=True))
    ungraded: int = field(default=0, metadata=_key("u", always=True))
    complete: bool = field(default=False, metadata=_key("cp", always=True))
    profile: str = field(default="", metadata=_key("pf"))
    profile_hash: str = field(default="", metadata=_key("ph"))
    end_digest: str = field(default="", metadata=_key("ed"))
    sequence: int = field(default=0, compare=False)
    """Place in the stream of rewards, if it was read from there; for `rewards(after=...)`."""

    @property
    def value(self) -> float | None:
        """The process reward; None where it is null, never 0 in its place."""
        return self.process


@dataclass(slots=True)
class Dead:
    """A message that could not be handled, kept for operators."""

    stage: str = field(default="", metadata=_key("st", always=True))
    reason: str = field(default="", metadata=_key("rs", always=True))
    detail: str = field(default="", metadata=_key("dt"))
    subject: str = field(default="", metadata=_key("su", always=True))
    body: bytes = field(default=b"", metadata=_key("bd"))
    body_size: int = field(default=0, metadata=_key("bs", always=True))
    headers: dict[str, str] = field(default_factory=dict, metadata=_key("hd"))
    delivered: int = field(default=0, metadata=_key("dv"))
    at_ns: int = field(default=0, metadata=_key("at"))


@dataclass(slots=True)
class LiveAnswer:
    """The answer to a live check; never rewarded."""

    run: str = field(default="", metadata=_key("run"))
    rollout: str = field(default="", metadata=_key("ro"))
    index: int = field(default=0, metadata=_key("i"))
    kind: LiveKind = field(default="plan", metadata=_key("k", always=True))
    label: Gap = field(default="ungraded", metadata=_key("l", always=True))
    repair: Repair = field(default="none", metadata=_key("r", always=True))
    reason: str = field(default="", metadata=_key("rs"))
    detail: str = field(default="", metadata=_key("dt"))
    trail: list[TrailEntry] = field(default_factory=list, metadata=_key("tr"))

    @property
    def graded(self) -> bool:
        """Whether there is a verdict."""
        return self.label != "ungraded"


@dataclass(slots=True)
class Work:
    """What one stage hands to the next."""

    step: bytes = field(default=b"", metadata=_key("s", always=True))
    abstaining: bool = field(default=False, metadata=_key("ab"))
    quotes: list[Quote] = field(default_factory=list, metadata=_key("qs"))
    trail: list[TrailEntry] = field(default_factory=list, metadata=_key("tr"))
