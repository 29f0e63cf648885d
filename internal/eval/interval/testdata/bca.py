"""BCa intervals by scipy over draws that are given: JSON lines in and out.

A case is {"questions": [[counts of a question]], "total": ..., "draws": [...],
"level": 0.95}; the statistic is F1 of counts [right, gold, predicted].
"""

import json
import sys
from types import SimpleNamespace

import numpy as np
from scipy import stats

for line in sys.stdin:
    case = json.loads(line)
    questions = np.array(case["questions"], dtype=float)

    def f1(picked):
        right, gold, predicted = questions[np.asarray(picked, dtype=int)].sum(axis=0)
        return 2 * right / (gold + predicted)

    result = stats.bootstrap(
        (np.arange(len(questions)),), f1, n_resamples=0, vectorized=False, method="BCa",
        confidence_level=case["level"],
        bootstrap_result=SimpleNamespace(bootstrap_distribution=np.array(case["draws"])),
    )
    own = stats.bootstrap(
        (np.arange(len(questions)),), f1, n_resamples=4000, vectorized=False, method="BCa",
        confidence_level=case["level"], rng=np.random.default_rng(1),
    ).confidence_interval if case.get("own") else result.confidence_interval
    ends = result.confidence_interval
    print(json.dumps({"low": ends.low, "high": ends.high, "own_low": own.low, "own_high": own.high}))
