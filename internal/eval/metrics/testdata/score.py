"""Scores cases by scikit-learn: JSON lines in, JSON lines out.

A case is {"gold": [int], "pred": [int], "question": [int]} with none 0, the
three gaps 1 to 3 and ungraded 4, which is a fifth label that gold never has.
What scikit-learn has no number for is null.
"""

import json
import math
import sys
import warnings

import numpy as np
import sklearn
from sklearn import metrics

warnings.simplefilter("ignore")
sklearn.set_config(assume_finite=True, skip_parameter_validation=True)  # half the time
NAN = float("nan")


def positive(gold, pred):
    """Precision, recall and F1 of the class 1."""
    p, r, f, _ = metrics.precision_recall_fscore_support(
        gold, pred, labels=[1], zero_division=NAN, average=None
    )
    return p[0], r[0], f[0]


def score(gold, pred, question):
    gold, pred, question = map(np.asarray, (gold, pred, question))
    gap = (gold > 0).astype(int)
    flagged = np.where(pred == 4, 2, (pred > 0).astype(int))
    out = dict(zip(("precision", "recall", "sf1"), positive(gap, flagged)))
    ids = np.unique(question)
    out["qf1"] = positive(
        np.array([gap[question == q].max() for q in ids]),
        np.array([int((flagged[question == q] == 1).any()) for q in ids]),
    )[2]
    # scikit-learn scores one class as well, where balanced accuracy says nothing.
    one = len(set(gap)) < 2
    out["ba"] = NAN if one else metrics.balanced_accuracy_score(gap, flagged)
    out["kappa"] = metrics.cohen_kappa_score(gold, pred, labels=[0, 1, 2, 3, 4])
    out["macro_f1"] = metrics.f1_score(gold, pred, labels=np.unique(gold), average="macro")
    out["accuracy"] = metrics.accuracy_score(gold, pred)
    _, _, f1, _ = metrics.precision_recall_fscore_support(
        gold, pred, labels=[0, 1, 2, 3], zero_division=NAN, average=None
    )
    for name, value in zip(("none", "contradicted_claim", "irrelevant_evidence", "missing_bridge"), f1):
        out["f1_" + name] = value
    confusion = metrics.confusion_matrix(gold, pred, labels=[0, 1, 2, 3, 4])[:4].tolist()
    out = {k: None if math.isnan(v) else float(v) for k, v in out.items()}
    return out | {"confusion": confusion}


for line in sys.stdin:
    print(json.dumps(score(**json.loads(line))))
