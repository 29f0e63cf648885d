"""Rewards for trainers, in the shape that each of them takes.

One module a trainer, to be imported by name (`stepgap.adapters.trl`, `.verl`, `.openrlhf`,
`.skyrl`); none of them is imported from here, and none needs another's package. What they
promise in common:

- A rollout that could not be scored is never 0. Where the trainer has a way to say so
  (None in TRL and OpenRLHF) it is used; where it takes a number only, the value is NaN and
  an advantage estimator comes with the adapter that leaves the rollout out.
- A reward comes by the deadline or is given up with a reason; a lost pipeline, a full
  queue or an unreadable completion raises nothing into the trainer.
- Step rewards keep their places: on tokens, or on turns.
"""
