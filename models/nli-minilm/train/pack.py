"""Packs a checkpoint into the delta that the project carries.

    pack.py --wheel WHEEL --checkpoint FILE --out FILE [--rank 64]

Each encoder matrix's difference from the backbone becomes two int8 factors of low
rank; biases, norms, pooler and classifier go in whole, float16. Prints how much of
the difference the factors keep. Then build_model.py builds the model from it,
and make_reference.py renews the reference vectors.
"""

import argparse
import pathlib

import numpy as np

import checkpoint
from paths import weights as layout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", required=True, type=pathlib.Path)
    parser.add_argument("--checkpoint", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--rank", type=int, default=64)
    arguments = parser.parse_args()
    frozen, _ = checkpoint.backbone(arguments.wheel)
    delta, kept = pack(checkpoint.load(arguments.checkpoint, frozen), frozen, arguments.rank)
    arguments.out.write_bytes(checkpoint.to_bytes(delta))
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes, rank {arguments.rank}, {100 * kept:.1f} % of the difference kept")


def pack(merged, frozen, rank):
    """Return the delta's tensors and the share of the squared difference they keep."""
    delta, lost, all_of_it = {}, 0.0, 0.0
    matrices = {
        f"layers.{layer}.{ours}.weight": (f"layers.{layer}.{short}", checkpoint.matrix_in_backbone(layer, ours))
        for layer in range(layout.LAYERS)
        for ours, (short, _) in layout.LINEARS.items()
    }
    for ours, short in checkpoint.changed():
        if ours not in matrices:
            delta[short] = merged[ours].astype(np.float16)
            continue
        prefix, original = matrices[ours]
        difference = merged[ours].astype(np.float64) - frozen[original]
        left, right, scale = factors(difference, rank)
        delta[f"{prefix}.B8"], delta[f"{prefix}.A8"], delta[f"{prefix}.ab"] = left, right, scale
        rest = difference - (left * scale.astype(np.float64)) @ right.astype(np.float64)
        lost += float((rest**2).sum())
        all_of_it += float((difference**2).sum())
    return delta, 1.0 - lost / all_of_it if all_of_it else 1.0


def factors(difference, rank):
    """Return int8 [out, rank], int8 [rank, in] and float32 [rank] whose product is
    nearest to the difference, up to rounding."""
    u, s, v = np.linalg.svd(difference, full_matrices=False)
    left, right = u[:, :rank] * s[:rank], v[:rank]
    left_scale = np.maximum(np.abs(left).max(axis=0), 1e-12) / 127
    right_scale = np.maximum(np.abs(right).max(axis=1), 1e-12) / 127
    return (
        np.rint(left / left_scale).astype(np.int8),
        np.rint(right / right_scale[:, None]).astype(np.int8),
        (left_scale * right_scale).astype(np.float32),
    )


if __name__ == "__main__":
    main()
