"""Merges the frozen backbone with StepGap's fine-tuning delta.

The result is a flat {name: float32 array} with these names:

    word, position, token_type               embeddings
    embeddings_norm.{weight,bias}
    layers.<i>.<linear>.{weight,bias}        linear in LINEARS; weight is [out, in]
    layers.<i>.<norm>.{weight,bias}          norm in NORMS
    pooler.{weight,bias}, classifier.{weight,bias}
"""

import numpy as np

LAYERS = 6
HEADS = 12
HIDDEN = 384

# our name -> (name in the delta, name in the backbone)
LINEARS = {
    "query": ("q", "attention.self.query"),
    "key": ("k", "attention.self.key"),
    "value": ("v", "attention.self.value"),
    "attention_out": ("o", "attention.output.dense"),
    "feed_up": ("f1", "intermediate.dense"),
    "feed_down": ("f2", "output.dense"),
}
NORMS = {
    "attention_norm": ("ln1", "attention.output.LayerNorm"),
    "output_norm": ("ln2", "output.LayerNorm"),
}


def merge(backbone, delta):
    """Return the fine-tuned weights. Raises KeyError where a tensor is absent."""
    merged = {
        "word": backbone["embeddings.word_embeddings.weight"],
        "position": backbone["embeddings.position_embeddings.weight"],
        "token_type": _float32(delta["typ"]),
        "pooler.weight": _float32(delta["pool.weight"]),
        "pooler.bias": _float32(delta["pool.bias"]),
        "classifier.weight": _float32(delta["cls.weight"]),
        "classifier.bias": _float32(delta["cls.bias"]),
    }
    for part in ("weight", "bias"):
        merged[f"embeddings_norm.{part}"] = _float32(delta[f"eln.{part}"])
    for layer in range(LAYERS):
        for name, (short, long) in LINEARS.items():
            frozen = backbone[f"encoder.layer.{layer}.{long}.weight"]
            prefix = f"layers.{layer}.{short}"
            merged[f"layers.{layer}.{name}.weight"] = _add_low_rank(frozen, delta, prefix)
            merged[f"layers.{layer}.{name}.bias"] = _float32(delta[f"{prefix}.bias"])
        for name, (short, _) in NORMS.items():
            for part in ("weight", "bias"):
                merged[f"layers.{layer}.{name}.{part}"] = _float32(delta[f"layers.{layer}.{short}.{part}"])
    return merged


def _add_low_rank(frozen, delta, prefix):
    """Return frozen + (B * scale) @ A, rounded once to float32.

    The product is summed rank by rank in float64 with element-wise operations
    only, so every machine gets the same bits; a BLAS matmul would not promise
    that, and the model's checksum is part of a run's pinned configuration.
    """
    left = delta[f"{prefix}.B8"].astype(np.float64) * delta[f"{prefix}.ab"].astype(np.float64)
    right = delta[f"{prefix}.A8"].astype(np.float64)
    total = frozen.astype(np.float64)
    for rank in range(right.shape[0]):
        total += left[:, rank, None] * right[rank]
    return total.astype(np.float32)


def _float32(array):
    return array.astype(np.float32)
