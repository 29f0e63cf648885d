"""Makes the tokenizer and model fixtures of internal/nli/onnx.

    make.py --out FOLDER

Writes FOLDER/deberta-tiny (a whole model folder), FOLDER/roberta-tiny (a
tokenizer) and FOLDER/graphs (a graph for each way in which exports differ).
Needs numpy and onnx; the same bytes come out every time. reference.json comes
from ../make_reference.py afterwards, which needs tokenizers and onnxruntime.
"""

import argparse
import json
import pathlib

import numpy as np

import bpe
import corpus
import forward
import graph
import graphs
import unigram
import weights as drawing

MERGES = 400


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder to write to")
    out = parser.parse_args().out
    deberta(out / "deberta-tiny")
    roberta(out / "roberta-tiny")
    graphs.write(out / "graphs")


def vocabulary():
    """Return the Unigram vocabulary [[piece, log probability]], without [MASK]."""
    return unigram.train(corpus.words(), corpus.alphabet(), drawing.VOCABULARY)


def weights(pieces):
    """Return all weights, the classifier fitted to the corpus's pairs."""
    drawn = drawing.draw()
    pairs = corpus.pairs()
    features = np.array([forward.pooled(drawn, unigram.encode_pair(pieces, p, h)) for p, h, _ in pairs])
    fitted, bias = drawing.fit_classifier(features, [label for *_, label in pairs])
    return {**drawn, "classifier.weight": fitted, "classifier.bias": bias}


def deberta(folder):
    pieces = vocabulary()
    filled = weights(pieces)
    write_json(folder / "tokenizer.json", unigram.tokenizer_json(pieces))
    write_json(folder / "tokenizer_config.json", {
        "bos_token": "[CLS]", "cls_token": "[CLS]", "do_lower_case": False, "eos_token": "[SEP]", "mask_token": "[MASK]",
        "model_max_length": drawing.POSITIONS, "pad_token": "[PAD]", "sep_token": "[SEP]", "sp_model_kwargs": {},
        "split_by_punct": False, "tokenizer_class": "DebertaV2Tokenizer", "unk_token": "[UNK]", "vocab_type": "spm",
    })
    write_json(folder / "config.json", {
        "architectures": ["DebertaV2ForSequenceClassification"],
        "attention_probs_dropout_prob": 0.1,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "hidden_size": drawing.HIDDEN,
        "id2label": dict(enumerate(drawing.LABELS)),
        "initializer_range": 0.02,
        "intermediate_size": drawing.FEED,
        "label2id": {label: i for i, label in enumerate(drawing.LABELS)},
        "layer_norm_eps": drawing.EPSILON,
        "max_position_embeddings": drawing.POSITIONS,
        "max_relative_positions": -1,
        "model_type": "deberta-v2",
        "norm_rel_ebd": "layer_norm",
        "num_attention_heads": drawing.HEADS,
        "num_hidden_layers": drawing.LAYERS,
        "pad_token_id": unigram.PAD,
        "pooler_dropout": 0,
        "pooler_hidden_act": "gelu",
        "pooler_hidden_size": drawing.HIDDEN,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "position_buckets": drawing.BUCKETS,
        "relative_attention": True,
        "share_att_key": True,
        "type_vocab_size": 0,
        "vocab_size": drawing.VOCABULARY,
    })
    write_json(folder / "pairs.json", [{"premise": p, "hypothesis": h, "gold": label} for p, h, label in corpus.pairs()])
    for name, precision, type_ids in (
        ("model.onnx", "fp32", False),
        ("model_tt.onnx", "fp32", True),
        ("model_fp16.onnx", "fp16", False),
        ("model_int8.onnx", "int8", False),
    ):
        (folder / name).write_bytes(graph.model(filled, precision, type_ids).SerializeToString(deterministic=True))


def roberta(folder):
    tokens, merges = bpe.train(corpus.words(), MERGES)
    write_json(folder / "tokenizer.json", bpe.tokenizer_json(tokens, merges))


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    indent = 1 if len(json.dumps(value)) < 4000 else None
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
