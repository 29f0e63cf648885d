"""DeBERTa-v2's forward pass in numpy, in float64, of one unpadded pair."""

import math

import numpy as np

from weights import BUCKETS, EPSILON, HEADS, HIDDEN, LAYERS, POSITIONS

_erf = np.vectorize(math.erf, otypes=[np.float64])


def bucket(distance):
    """Return the bucket of a signed distance between two tokens.

    Up to half of BUCKETS a distance is its own bucket; beyond it, buckets grow
    with the logarithm, up to the longest distance that POSITIONS allows.
    """
    half = BUCKETS // 2
    if abs(distance) <= half:
        return distance
    steps = math.log(abs(distance) / half) / math.log((POSITIONS - 1) / half) * (half - 1)
    return int(math.copysign(math.ceil(steps) + half, distance))


def pooled(weights, ids):
    """Return the pooler's output [hidden] for a list of ids."""
    hidden = _norm(weights, "deberta.embeddings.LayerNorm", weights["deberta.embeddings.word_embeddings.weight"][ids].astype(np.float64))
    relative = _norm(weights, "deberta.encoder.LayerNorm", weights["deberta.encoder.rel_embeddings.weight"].astype(np.float64))
    distances = np.array([[bucket(i - j) for j in range(len(ids))] for i in range(len(ids))])
    for layer in range(LAYERS):
        at = f"deberta.encoder.layer.{layer}"
        attended = _linear(weights, f"{at}.attention.output.dense", _attention(weights, f"{at}.attention.self", hidden, relative, distances))
        hidden = _norm(weights, f"{at}.attention.output.LayerNorm", hidden + attended)
        fed = _linear(weights, f"{at}.output.dense", gelu(_linear(weights, f"{at}.intermediate.dense", hidden)))
        hidden = _norm(weights, f"{at}.output.LayerNorm", hidden + fed)
    return gelu(_linear(weights, "pooler.dense", hidden[0]))


def logits(weights, ids):
    """Return the float64 logits of one pair."""
    return _linear(weights, "classifier", pooled(weights, ids))


def gelu(x):
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _attention(weights, at, hidden, relative, distances):
    """Disentangled attention: content to content, to position, and the reverse."""
    size = HIDDEN // HEADS

    def heads(name, inputs):
        return _linear(weights, f"{at}.{name}", inputs).reshape(-1, HEADS, size).swapaxes(0, 1)

    query, key, value = (heads(name, hidden) for name in ("query_proj", "key_proj", "value_proj"))
    position_query, position_key = heads("query_proj", relative), heads("key_proj", relative)
    scores = query @ key.swapaxes(1, 2)
    rows, columns = np.indices(distances.shape)
    to_position = (query @ position_key.swapaxes(1, 2))[:, rows, np.clip(distances + BUCKETS, 0, 2 * BUCKETS - 1)]
    # For token i looking at token j: the key of j, against the query of the
    # position that i has as seen from j.
    from_position = (key @ position_query.swapaxes(1, 2))[:, columns, np.clip(distances + BUCKETS, 0, 2 * BUCKETS - 1)]
    scores = (scores + to_position + from_position) / math.sqrt(3 * size)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (scores / scores.sum(axis=-1, keepdims=True) @ value).swapaxes(0, 1).reshape(-1, HIDDEN)


def _linear(weights, name, inputs):
    return inputs @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]


def _norm(weights, name, inputs):
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON) * weights[f"{name}.weight"] + weights[f"{name}.bias"]
