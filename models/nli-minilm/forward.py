"""A plain numpy forward pass, to check the merged weights without the graph."""

import math

import numpy as np

from weights import HEADS, HIDDEN, LAYERS

_erf = np.vectorize(math.erf, otypes=[np.float64])


def logits(weights, ids, type_ids):
    """Return the three float64 logits of one unpadded pair.

    ids and type_ids are equally long lists of ints, at most 512 of them.
    """
    hidden = weights["word"][ids].astype(np.float64)
    hidden = hidden + weights["token_type"][type_ids] + weights["position"][: len(ids)]
    hidden = _norm(weights, "embeddings_norm", hidden)
    for layer in range(LAYERS):
        hidden = _encoder_layer(weights, f"layers.{layer}", hidden)
    pooled = np.tanh(_linear(weights, "pooler", hidden[0]))
    return _linear(weights, "classifier", pooled)


def _encoder_layer(weights, prefix, hidden):
    attended = _linear(weights, f"{prefix}.attention_out", _attention(weights, prefix, hidden))
    hidden = _norm(weights, f"{prefix}.attention_norm", hidden + attended)
    up = _linear(weights, f"{prefix}.feed_up", hidden)
    gelu = 0.5 * up * (1.0 + _erf(up / math.sqrt(2.0)))
    return _norm(weights, f"{prefix}.output_norm", hidden + _linear(weights, f"{prefix}.feed_down", gelu))


def _attention(weights, prefix, hidden):
    size = HIDDEN // HEADS
    query, key, value = (
        _linear(weights, f"{prefix}.{name}", hidden).reshape(-1, HEADS, size).swapaxes(0, 1)
        for name in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2) / math.sqrt(size)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores = scores / scores.sum(axis=-1, keepdims=True)
    return (scores @ value).swapaxes(0, 1).reshape(-1, HIDDEN)


def _linear(weights, name, inputs):
    return inputs @ weights[f"{name}.weight"].T.astype(np.float64) + weights[f"{name}.bias"]


def _norm(weights, name, inputs):
    centred = inputs - inputs.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-12) * weights[f"{name}.weight"] + weights[f"{name}.bias"]
