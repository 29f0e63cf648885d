"""Tests of train_encoder.py over a base of random weights that is made here."""

import argparse
import json
import pathlib
import sys
import tempfile
import unittest

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import bert_onnx  # noqa: E402
import train_encoder  # noqa: E402

HIDDEN, WIDE, HEADS, LAYERS, VOCABULARY, POSITIONS = 32, 64, 4, 3, 60, 64
CONFIG = {
    "model_type": "bert", "hidden_size": HIDDEN, "intermediate_size": WIDE, "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS, "vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
    "id2label": {"0": "entailment", "1": "neutral", "2": "contradiction"},
}
WORDS = "the mill was built by ada lunt bo ek in hull leeds 1790 1791 who where | . born is a mason baker river".split()


def base(folder):
    """Write a base folder whose ONNX file has the names that graph.py gives."""
    from onnx import TensorProto, helper, numpy_helper, save
    import tokenizers

    torch.manual_seed(3)
    weights = {name: t.numpy() for name, t in bert_onnx.Encoder(CONFIG, 3).state_dict().items()}
    constants = []
    for name, array in weights.items():
        prefix, _, part = name.rpartition(".")
        which = prefix.rpartition(".")[2]
        if which in ("query", "key", "value") and part == "bias":
            continue  # fused, as the fp32 graph has them
        if prefix in ("word", "position", "token_type"):
            name = prefix
        elif bert_onnx._is_matrix(name):
            array = array.T
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
    for layer in range(LAYERS):
        biases = [weights[f"layers.{layer}.{which}.bias"] for which in ("query", "key", "value")]
        constants.append(numpy_helper.from_array(np.concatenate(biases), f"layers.{layer}.attention.bias"))
    constants.append(numpy_helper.from_array(np.float32(1), "one"))
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])]
    # The graph itself is not run here: weights go in and out of it.
    nodes = [
        helper.make_node("Gather", ["classifier.bias", "input_ids"], ["picked"]),
        helper.make_node("Identity", ["picked"], ["logits"]),
    ]
    proto = helper.make_model(
        helper.make_graph(nodes, "base", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 17)]
    )
    save(proto, folder / "model.onnx")
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.save(str(folder / "tokenizer.json"))
    return weights


def lines():
    """Pairs whose label one word tells, in three splits."""
    told = {"none": "hull", "contradicted_claim": "leeds", "irrelevant_evidence": "river", "missing_bridge": "baker"}
    out = []
    for i in range(160):
        label = train_encoder.LABELS[i % 4]
        split = {8: "dev", 9: "test"}.get(i // 4 % 10, "train")
        premise = f"Ada Lunt was born in {told[label]} ." + " the mill is a mill ." * (i % 3)
        out.append({"premise": premise, "hypothesis": f"where was ada born | ada lunt | {i % 7} born in hull", "label": label, "split": split})
    return out


def arguments(folder, **other):
    values = {
        "data": folder / "encoder.jsonl", "base": folder / "base", "out": folder / "student", "epochs": 6, "batch": 8,
        "rate": 2e-3, "head_rate": 5e-3, "warm_up": 0.1, "tokens": 48, "frozen": 1, "balance": 0.5, "limit": 0,
        "seed": 1, "threads": 1, **other,
    }
    return argparse.Namespace(**values)


class TrainEncoder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "base").mkdir()
        self.weights = base(self.folder / "base")
        text = "".join(json.dumps(line) + "\n" for line in lines())
        (self.folder / "encoder.jsonl").write_text(text, encoding="utf-8")
        torch.set_num_threads(1)

    def train(self, **other):
        torch.manual_seed(1)
        train_encoder.run(arguments(self.folder, **other))
        return json.loads((self.folder / "student" / "training.json").read_text(encoding="utf-8"))

    def test_weights_survive_the_way_through_onnx(self):
        model, proto = bert_onnx.load(self.folder / "base", 4)
        for name, tensor in model.state_dict().items():
            if not name.startswith("classifier."):
                np.testing.assert_array_equal(tensor.numpy(), self.weights[name], name)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.25)
        (self.folder / "again").mkdir()
        bert_onnx.save(model, proto, self.folder / "again" / "model.onnx")
        (self.folder / "again" / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        again, changed = bert_onnx.load(self.folder / "again", 4)
        for name, tensor in again.state_dict().items():
            if not name.startswith("classifier."):
                np.testing.assert_array_equal(tensor.numpy(), model.state_dict()[name].numpy(), name)
        self.assertEqual(changed.graph.output[0].type.tensor_type.shape.dim[1].dim_value, 4)
        self.assertEqual(proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value, 3, "the base is left as it was")

    def test_learns_what_one_word_tells_and_writes_a_whole_folder(self):
        report = self.train(epochs=20)
        self.assertEqual(report["pairs"], {"train": 128, "dev": 16, "test": 16})
        self.assertGreater(report["test"]["macro_f1"], 0.9, report)
        self.assertEqual(report["test"]["balanced_accuracy"], 1.0)
        student = self.folder / "student"
        config = json.loads((student / "config.json").read_text(encoding="utf-8"))
        self.assertEqual([config["id2label"][str(i)] for i in range(4)], list(train_encoder.LABELS))
        references = json.loads((student / "reference.json").read_text(encoding="utf-8"))
        self.assertEqual(len(references), train_encoder.REFERENCES)
        self.assertTrue(all(len(r["logits"]) == 4 and len(r["ids"]) == len(r["type_ids"]) for r in references))
        self.assertTrue((student / "tokenizer.json").exists())

    def test_the_same_seed_gives_the_same_model(self):
        self.train(epochs=1)
        first = (self.folder / "student" / "model.onnx").read_bytes()
        self.train(epochs=1)
        self.assertEqual((self.folder / "student" / "model.onnx").read_bytes(), first)

    def test_frozen_layers_stay(self):
        self.train(epochs=1, frozen=2)
        model, _ = bert_onnx.load(self.folder / "student", 4)
        got = model.state_dict()
        np.testing.assert_array_equal(got["layers.1.query.weight"].numpy(), self.weights["layers.1.query.weight"])
        self.assertFalse(np.array_equal(got["layers.2.query.weight"].numpy(), self.weights["layers.2.query.weight"]))

    def test_figures_of_a_split_without_gaps_are_none_and_not_nan(self):
        model, _ = bert_onnx.load(self.folder / "base", 4)
        tokenizer = train_encoder.open_tokenizer(self.folder / "base", 48)
        pairs = train_encoder.encode(tokenizer, [("ada was born .", "ada born", 0)])
        self.assertIsNone(train_encoder.measure(model, pairs)["balanced_accuracy"])
        self.assertIsNone(train_encoder.measure(model, [])["accuracy"])

    def test_long_pairs_lose_the_end_of_the_premise_alone(self):
        tokenizer = train_encoder.open_tokenizer(self.folder / "base", 20)
        (ids, types, _), = train_encoder.encode(tokenizer, [("hull " + "mill " * 60, "who was born", 0)])
        self.assertEqual(len(ids), 20)
        self.assertEqual(sum(types), 4, "hypothesis and its end")
        self.assertEqual(train_encoder.encode(tokenizer, [("hull", "mill " * 60, 0)]), [], "what is too long by itself is left out")

    def test_an_unknown_label_is_named_with_its_line(self):
        (self.folder / "encoder.jsonl").write_text('{"premise": "a", "hypothesis": "b", "label": "ok", "split": "train"}\n', encoding="utf-8")
        with self.assertRaises(SystemExit) as raised:
            train_encoder.read(self.folder / "encoder.jsonl")
        self.assertIn("encoder.jsonl:1", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
