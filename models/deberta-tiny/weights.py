"""The architecture's sizes and its weights, drawn from a seed."""

import numpy as np

VOCABULARY = 900
HIDDEN = 64
HEADS = 2
LAYERS = 2
FEED = 128
BUCKETS = 256  # positions on either side, as in DeBERTa-v3
POSITIONS = 512
EPSILON = 1e-7
LABELS = ("entailment", "neutral", "contradiction")


def draw(seed=20240607):
    """Return {name: float32 array} without the classifier.

    The names are those of transformers' DebertaV2ForSequenceClassification.
    RandomState's stream is frozen by numpy's promise; three decimals keep the
    file small once it is compressed.
    """
    source = np.random.RandomState(seed)

    def normal(*shape, scale):
        return np.round(source.standard_normal(shape) * scale, 3).astype(np.float32)

    weights = {"deberta.embeddings.word_embeddings.weight": normal(VOCABULARY, HIDDEN, scale=1.0)}
    weights["deberta.embeddings.word_embeddings.weight"][0] = 0  # padding
    _norm(weights, "deberta.embeddings.LayerNorm", normal)
    weights["deberta.encoder.rel_embeddings.weight"] = normal(2 * BUCKETS, HIDDEN, scale=1.0)
    _norm(weights, "deberta.encoder.LayerNorm", normal)
    for layer in range(LAYERS):
        at = f"deberta.encoder.layer.{layer}"
        for name, rows, columns in (
            ("attention.self.query_proj", HIDDEN, HIDDEN),
            ("attention.self.key_proj", HIDDEN, HIDDEN),
            ("attention.self.value_proj", HIDDEN, HIDDEN),
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", FEED, HIDDEN),
            ("output.dense", HIDDEN, FEED),
        ):
            weights[f"{at}.{name}.weight"] = normal(rows, columns, scale=1.6 / np.sqrt(columns))
            weights[f"{at}.{name}.bias"] = normal(rows, scale=0.05)
        _norm(weights, f"{at}.attention.output.LayerNorm", normal)
        _norm(weights, f"{at}.output.LayerNorm", normal)
    weights["pooler.dense.weight"] = normal(HIDDEN, HIDDEN, scale=1.6 / np.sqrt(HIDDEN))
    weights["pooler.dense.bias"] = normal(HIDDEN, scale=0.05)
    return weights


def _norm(weights, name, normal):
    weights[f"{name}.weight"] = (1 + normal(HIDDEN, scale=0.05)).astype(np.float32)
    weights[f"{name}.bias"] = normal(HIDDEN, scale=0.05)


def fit_classifier(features, labels, ridge=0.02):
    """Return (weight [3, hidden], bias [3]) that give features their labels.

    Least squares towards 4 for the right class and -2 for the others. The model
    so memorizes its pairs: it is a fixture, and knows nothing. Rounding to two
    decimals leaves nothing of the last bits in which machines differ.
    """
    wanted = np.where(np.array(labels)[:, None] == np.array(LABELS), 4.0, -2.0)
    extended = np.hstack([features, np.ones((len(features), 1))])
    square = extended.T @ extended + ridge * np.eye(extended.shape[1])
    solution = np.round(np.linalg.solve(square, extended.T @ wanted), 2).astype(np.float32)
    return np.ascontiguousarray(solution[:-1].T), solution[-1].copy()
