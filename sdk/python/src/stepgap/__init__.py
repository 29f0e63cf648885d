"""Typed step rewards for search agents: the Python client of StepGap.

A rollout worker publishes steps and may wait for their labels; a trainer takes the
rewards::

    async with stepgap.connect("nats://127.0.0.1:4222") as client:
        async with client.rollout(question, group="q12", group_size=8) as r:
            label = await r.step(query=query, passages=passages, claim=claim)
            await r.end(answer, gold)
        reward = await client.reward(r)

`stepgap.sync` has the same for code without an event loop; `stepgap.advantages`,
`stepgap.outcome` and `stepgap.spans` turn rewards into what a trainer needs.
"""

from .client import Client, connect
from .errors import (
    AlreadyThere,
    BackPressure,
    ConnectionLost,
    DeadlineExceeded,
    ForkedError,
    IdReused,
    RolloutClosed,
    ServerRefused,
    StepgapError,
    ValidationError,
    WireError,
)
from .group import Group
from .messages import (
    GAPS,
    REPAIRS,
    Gap,
    Label,
    LiveAnswer,
    Outcome,
    Passage,
    Repair,
    Reward,
    RolloutEnd,
    Span,
    Step,
    StepRef,
    StepReward,
)
from .rollout import Rollout

__all__ = [
    "GAPS",
    "REPAIRS",
    "AlreadyThere",
    "BackPressure",
    "Client",
    "ConnectionLost",
    "DeadlineExceeded",
    "ForkedError",
    "Gap",
    "Group",
    "IdReused",
    "Label",
    "LiveAnswer",
    "Outcome",
    "Passage",
    "Repair",
    "Reward",
    "Rollout",
    "RolloutClosed",
    "RolloutEnd",
    "ServerRefused",
    "Span",
    "Step",
    "StepRef",
    "StepReward",
    "StepgapError",
    "ValidationError",
    "WireError",
    "connect",
]
