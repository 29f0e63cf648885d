"""Tests of the training code: python -m unittest, in this folder.

Those that train need torch, and a wheel of the backbone whose path is given as
STEPGAP_BACKBONE; the one that reads the public sets needs STEPGAP_DATA. Without
them they are skipped, and say so.
"""

import argparse
import collections
import json
import os
import pathlib
import tempfile
import unittest

import numpy as np

import checkpoint
import pack
import sets
import templates

try:
    import torch
except ImportError:
    torch = None

WHEEL = os.environ.get("STEPGAP_BACKBONE")
DATA = os.environ.get("STEPGAP_DATA")
HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE.parent


class Split(unittest.TestCase):
    def test_rule_is_that_of_the_measure(self):
        # The same answers as in internal/nlieval/split_test.go.
        for premise, want in (("A dog runs.", False), ("The ferry sank in 1938.", False), ("Premise 17", False),
                              ("Premise 27", True), ("  PREMISE 27 ", True)):  # fmt: skip
            self.assertEqual(sets.left_out(premise), want, premise)

    @unittest.skipUnless(DATA, "STEPGAP_DATA is not set")
    def test_held_out_pairs_are_those_measured(self):
        pinned = json.loads((MODEL.parent.parent / "internal/nlieval/split.json").read_text(encoding="utf-8"))
        want = {entry["name"]: entry["sha256"] for entry in pinned["sets"]}
        train, held = sets.read(DATA)
        for name, pairs in held.items():
            self.assertEqual(sets.checksum(pairs), want[name], name)
        premises = {sets.normal(pair[0]) for name, pairs in train.items() for pair in pairs if name != "FM2"}
        for name, pairs in held.items():
            self.assertFalse([pair for pair in pairs if sets.normal(pair[0]) in premises], name)


class Templates(unittest.TestCase):
    def test_same_for_the_same_seed(self):
        self.assertEqual(templates.generate(200, 5), templates.generate(200, 5))
        self.assertNotEqual(templates.generate(200, 5), templates.generate(200, 6))

    def test_every_kind_has_no_holes_and_more_than_one_label(self):
        labels = collections.defaultdict(set)
        for quote, claim, label, kind in templates.generate(5000, 3):
            labels[kind].add(label)
            for text in (quote, claim):
                self.assertNotRegex(text, r"[{}]", kind)
                self.assertRegex(text, r'[.?!"]$')
        self.assertEqual(set(labels), {make.__name__ for make in templates.GENERATORS})
        for kind, seen in labels.items():
            self.assertGreater(len(seen), 1, kind)

    def test_no_pair_has_two_labels(self):
        seen = {}
        for quote, claim, label, kind in templates.generate(20000, 9):
            self.assertEqual(seen.setdefault((quote, claim), label), label, (kind, quote, claim))


class Packing(unittest.TestCase):
    def test_factors_give_a_low_rank_difference_back(self):
        rng = np.random.default_rng(1)
        difference = rng.normal(size=(48, 4)) @ rng.normal(size=(4, 32))
        left, right, scale = pack.factors(difference, 8)
        self.assertEqual((left.dtype, left.shape, right.shape), (np.int8, (48, 8), (8, 32)))
        restored = (left * scale.astype(np.float64)) @ right
        self.assertLess(np.abs(restored - difference).max(), 0.02 * np.abs(difference).max())


@unittest.skipUnless(torch and WHEEL, "torch is not installed, or STEPGAP_BACKBONE does not name the backbone's wheel")
class Training(unittest.TestCase):
    def setUp(self):
        torch.set_num_threads(1)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name) / "checkpoint.safetensors"

    def arguments(self, **changed):
        given = dict(
            wheel=pathlib.Path(WHEEL), data=None, out=self.out, start=MODEL / "delta.safetensors", pairs=48, templates=1.0,
            batch=8, rate=1e-4, warm_up=0.1, tokens=64, frozen=2, seed=3, threads=1, measured=16,
        )  # fmt: skip
        return argparse.Namespace(**{**given, **changed})

    def test_network_gives_the_reference_logits(self):
        import network

        frozen, _ = checkpoint.backbone(WHEEL)
        model = network.CrossEncoder(checkpoint.load(MODEL / "delta.safetensors", frozen)).eval()
        for pair in json.loads((MODEL / "reference.json").read_text(encoding="utf-8")):
            ids, types = torch.tensor([pair["ids"]]), torch.tensor([pair["type_ids"]])
            with torch.inference_mode():
                got = model(ids, types, torch.ones_like(ids))[0].numpy()
            np.testing.assert_allclose(got, pair["logits"], atol=1e-3)

    def test_a_few_dozen_pairs_train_pack_and_load(self):
        import train

        torch.manual_seed(3)
        report = train.run(self.arguments())
        self.assertEqual(report["pairs"], 48)
        frozen, _ = checkpoint.backbone(WHEEL)
        trained = checkpoint.load(self.out, frozen)
        delta, kept = pack.pack(trained, frozen, 64)
        self.assertGreater(kept, 0.5)
        packed = pathlib.Path(self.folder.name) / "delta.safetensors"
        packed.write_bytes(checkpoint.to_bytes(delta))
        merged = checkpoint.load(packed, frozen)
        self.assertEqual(set(merged), set(trained))
        started = checkpoint.load(MODEL / "delta.safetensors", frozen)
        # The lowest layers, all embeddings stay; the upper layers have moved.
        np.testing.assert_allclose(trained["layers.0.query.weight"], started["layers.0.query.weight"], atol=1e-3)
        np.testing.assert_array_equal(merged["word"], started["word"])
        self.assertGreater(np.abs(trained["layers.5.query.weight"] - started["layers.5.query.weight"]).max(), 1e-4)

    def test_same_seed_same_weights(self):
        import train

        written = []
        for _ in range(2):
            torch.manual_seed(3)
            train.run(self.arguments(start=None, pairs=24))
            written.append(self.out.read_bytes())
        self.assertEqual(*written)


if __name__ == "__main__":
    unittest.main()
