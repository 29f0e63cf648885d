"""The report: one JSON file, its curves as SVG, its table in Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .measure import bootstrap
from .plot import Line, chart
from .train import EXACT, KINDS, Training

Report = dict[str, Any]

BEGIN, END = "<!-- grpo-cpu: begin -->", "<!-- grpo-cpu: end -->"

_ROWS = (
    ("em", "exact match", 100),
    ("f1", "F1", 100),
    ("em_draws", "exact match, more draws", 100),
    ("supported", "right, conclusion entailed", 100),
    ("unsupported", "right, conclusion not entailed", 100),
    ("searches", "searches a question", 1),
    ("process_reward", "process reward (profile `stepgap`)", 1),
    ("share_none", "steps without a gap", 100),
    ("share_contradicted_claim", "contradicted claims", 100),
    ("share_irrelevant_evidence", "irrelevant evidence", 100),
    ("share_missing_bridge", "missing bridges", 100),
    ("share_ungraded", "ungraded", 100),
    ("abstained", "readings that abstain", 100),
    ("copied", "readings that copy a sentence", 100),
    ("retracted", "readings that retract", 100),
)
_NAMES = {
    EXACT: "exact match only",
    "untyped": "+ untyped",
    "typed": "+ typed",
    "typed_shaped": "+ typed and shaped",
}


def make(
    run: Mapping[str, Any],
    start: Sequence[Mapping[str, float]],
    trainings: Sequence[Training],
    finals: Sequence[Mapping[str, float]],
) -> Report:
    """Means over seeds with intervals, and paired differences from exact match only.

    The figures are of one rollout a question, which was judged; em_draws is the exact match
    over all draws of the curve's last point, which is surer.

    Args:
        run: what was run, as it stands in the report.
        start: figures of the initial policy, by seed.
        trainings: every kind and seed.
        finals: the figures of each at its end.
    """
    by_kind: dict[str, dict[int, Mapping[str, float]]] = {kind: {} for kind in KINDS}
    for training, figures in zip(trainings, finals, strict=True):
        by_kind[training.kind][training.seed] = {**figures, "em_draws": training.curve[-1]["em"]}
    begun = [t.curve[0]["em"] for t in trainings if t.kind == EXACT]
    start = [{**figures, "em_draws": em} for figures, em in zip(start, begun, strict=True)]
    kinds: dict[str, Any] = {}
    for kind in KINDS:
        own, exact = by_kind[kind], by_kind[EXACT]
        figures_of = {}
        for name in start[0]:
            values = [own[seed][name] for seed in sorted(own)]
            figures_of[name] = {**asdict(bootstrap(values)), "seeds": values}
            if kind != EXACT:
                gained = [own[seed][name] - exact[seed][name] for seed in sorted(own)]
                figures_of[name]["from_exact_match"] = asdict(bootstrap(gained))
        kinds[kind] = {"figures": figures_of, "curves": _curves([t for t in trainings if t.kind == kind])}
    return {
        "run": dict(run),
        "initial": {n: asdict(bootstrap([f[n] for f in start])) for n in start[0]},
        "kinds": kinds,
    }


def _curves(trainings: Sequence[Training]) -> dict[str, Any]:
    held = {
        name: [
            asdict(bootstrap([t.curve[i][name] for t in trainings])) for i in range(len(trainings[0].curve))
        ]
        for name in ("em", "f1", "searches")
    }
    updates = [int(at["update"]) for at in trainings[0].curve]
    batches = [
        asdict(bootstrap([t.train_em[i] for t in trainings])) for i in range(len(trainings[0].train_em))
    ]
    return {"updates": updates, "held_out": held, "train_em": batches}


def table(report: Report) -> str:
    """The figures in Markdown."""
    kinds = report["kinds"]
    lines = [
        "| on held-out questions | before | " + " | ".join(_NAMES[k] for k in kinds) + " |",
        "|---" * (len(kinds) + 2) + "|",
    ]
    for name, title, by in _ROWS:
        cells = []
        for f in [report["initial"][name], *(kinds[kind]["figures"][name] for kind in kinds)]:
            cells.append(f"{_number(f['mean'], by)} [{_number(f['low'], by)}, {_number(f['high'], by)}]")
        lines.append(f"| {title}{' (%)' if by == 100 else ''} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "| difference from exact match only, by seed | "
        + " | ".join(_NAMES[k] for k in kinds if k != EXACT)
        + " |",
        "|---" * len(kinds) + "|",
    ]
    for name, title, by in _ROWS:
        cells = []
        for kind in kinds:
            if kind != EXACT:
                d = kinds[kind]["figures"][name]["from_exact_match"]
                said = f"{_signed(d['mean'], by)} [{_signed(d['low'], by)}, {_signed(d['high'], by)}]"
                cells.append(f"**{said}**" if d["low"] > 0 or d["high"] < 0 else said)
        lines.append(f"| {title}{' (points)' if by == 100 else ''} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write(report: Report, out: Path, readme: Path | None) -> None:
    """Write the report, the curves beside it, and the table into a page.

    Raises:
        OSError: a file can't be written.
        ValueError: the page has no marks to put the table between.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=1) + "\n")
    drawn = curves(report)
    out.with_suffix(".svg").write_text(drawn)
    if readme is None:
        return
    page = readme.read_text()
    if BEGIN not in page or END not in page:
        raise ValueError(f"{readme} has no lines {BEGIN} and {END}")
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    readme.write_text(f"{head}{BEGIN}\n{summary(report)}\n\n{table(report)}\n{END}{tail}")
    readme.with_name("curves.svg").write_text(drawn)


def summary(report: Report) -> str:
    """What was run, in a sentence or two."""
    run = report["run"]
    s = run["settings"]
    return (
        f"{run['date']}, {run['data']}: {run['train_questions']} questions to train on, "
        f"{run['held_out_questions']} held out; {s['seeds']} seeds, {s['updates']} updates of "
        f"{s['questions']} questions in groups of {s['group']}. {run['rollouts']:,} rollouts were to be "
        f"rewarded, {run['rollouts_judged']:,} of them different ones with {run['steps_judged']:,} steps, "
        f"each judged once; {run['seconds'] / 60:.1f} minutes on {run['cores']} cores, "
        f"{run['seconds_judging'] / 60:.1f} of them in the pipeline. In brackets 95 % intervals over seeds; "
        f"bold where one excludes zero."
    )


def curves(report: Report) -> str:
    """The learning curves as one SVG."""
    held, batches, f1 = [], [], []
    for kind, of in report["kinds"].items():
        c = of["curves"]
        held.append(Line(_NAMES[kind], c["updates"], c["held_out"]["em"]))
        f1.append(Line(_NAMES[kind], c["updates"], c["held_out"]["f1"]))
        batches.append(Line(_NAMES[kind], list(range(1, len(c["train_em"]) + 1)), smooth(c["train_em"])))
    return chart(
        {"held out: exact match": held, "held out: F1": f1, "batches: exact match, mean of 5": batches}
    )


def smooth(points: Sequence[Mapping[str, float]], width: int = 5) -> list[dict[str, float]]:
    """The mean of each point and those before it; bands are averaged alike."""
    out = []
    for i in range(len(points)):
        near = points[max(0, i + 1 - width) : i + 1]
        out.append({k: sum(p[k] for p in near) / len(near) for k in ("mean", "low", "high")})
    return out


def _number(value: float, by: int) -> str:
    return f"{100 * value:.1f}" if by == 100 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def _signed(value: float, by: int) -> str:
    return f"{100 * value:+.1f}" if by == 100 else f"{value:+.3f}"
