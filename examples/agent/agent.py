"""A search agent that is told of its gaps while it works, beside one that is not.

    python examples/agent/agent.py --url nats://127.0.0.1:4222 --data FOLDER [--questions 20]
        [--endpoint http://127.0.0.1:8000/v1 --model NAME]

Prints searches, gaps by type, answers and rewards, with redirection off and on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bm25 import Index
from policies import Chat, Policy, Scripted

import stepgap
from stepgap.hints import hint
from stepgap.outcome import score_answer


@dataclass
class Figures:
    """What happened over all questions."""

    searches: int = 0
    gaps: Counter[str] = field(default_factory=Counter)
    redirected: int = 0
    exact: int = 0
    rewards: list[float] = field(default_factory=list)
    unscored: Counter[str] = field(default_factory=Counter)


async def answer(
    client: stepgap.Client, row: dict[str, Any], policy: Policy, options: Any, redirect: bool, into: Figures
) -> None:
    """One rollout."""
    index = Index([(p["title"], p["paragraph_text"]) for p in row["paragraphs"]])
    golds = [row["answer"], *row.get("answer_aliases", ())]
    query, passages, retracted = "", [], ""
    async with client.rollout(row["question"]) as r:
        turn = await policy.turn((), "")
        for _ in range(options.turns):
            if query:
                saw = None if redirect else 0
                text = "\n".join(filter(None, (retracted, turn.text)))
                label = await r.step(query, passages, text=text, timeout=options.timeout, saw=saw)
                retracted = ""
                into.gaps[label.label if label is not None else "late"] += 1
                if redirect and (told := hint(label)):
                    into.redirected += 1
                    turn = await policy.turn((), told)
                    # What it now writes stands after the hint, so it belongs to the next step.
                    retracted = turn.text
            if turn.answer or not turn.query:
                break
            if redirect and (told := hint(await r.plan(turn.query, timeout=options.timeout))):
                into.redirected += 1
                turn = await policy.turn((), told)
                if turn.answer or not turn.query:
                    break
            query, passages = turn.query, index.search(turn.query, options.passages)
            into.searches += 1
            turn = await policy.turn(passages, "")
        if turn.answer:
            label = await r.conclude(turn.answer, timeout=options.timeout, saw=None if redirect else 0)
            into.gaps[label.label if label is not None else "late"] += 1
        await r.end(turn.answer, golds)
    into.exact += score_answer(turn.answer, golds).em == 1.0
    reward = await r.reward(timeout=options.timeout)
    if reward is None or reward.value is None:
        into.unscored["late" if reward is None else reward.reason] += 1
    else:
        into.rewards.append(reward.value)


async def run(options: Any) -> None:
    """All questions, off and on."""
    rows = json.loads((Path(options.data) / "multihop" / "musique_100.json").read_text())
    rows = rows[: options.questions]
    for redirect in (False, True):
        into = Figures()
        async with stepgap.connect(options.url) as client:
            for row in rows:
                policy: Policy = Scripted(row)
                if options.endpoint:
                    policy = Chat(row["question"], options.endpoint, options.model, options.key)
                await answer(client, row, policy, options, redirect, into)
        report(into, redirect, len(rows))


def report(into: Figures, redirect: bool, questions: int) -> None:
    """Print the figures as they are."""
    print(f"redirection {'on' if redirect else 'off'}: {questions} questions")
    print(f"  searches {into.searches}, hints given {into.redirected}")
    print("  labels " + ", ".join(f"{gap} {into.gaps[gap]}" for gap in [*stepgap.GAPS, "late"]))
    print(f"  answers exactly right {into.exact}")
    mean = f"{sum(into.rewards) / len(into.rewards):+.4f}" if into.rewards else "none"
    print(f"  mean process reward {mean} over {len(into.rewards)}; without one: {dict(into.unscored)}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="nats://127.0.0.1:4222", help="the pipeline's NATS server")
    parser.add_argument("--data", default=os.environ.get("STEPGAP_DATA"), help="folder of the data set")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--turns", type=int, default=8, help="searches at most")
    parser.add_argument("--passages", type=int, default=3, help="a search")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for a label")
    parser.add_argument("--endpoint", help="an OpenAI-compatible endpoint; without it a script is the policy")
    parser.add_argument("--model", default="")
    parser.add_argument("--key", default=os.environ.get("STEPGAP_LLM_KEY", ""))
    options = parser.parse_args()
    if not options.data:
        parser.error("no data set: give its folder as --data or STEPGAP_DATA")
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
