"""Infinity's engine, in the process, with its optimum (ONNX Runtime) engine.

Infinity takes a model of three classes for a classifier of single texts, and offers
pairs to models of one class alone. So it runs in two ways here: as it is, on
"premise [SEP] hypothesis" as one text, and with its engine for pairs, changed by what
a three-way model needs and nothing more: it is handed the token types, and gives back
a row instead of a number.

It also names a model file in a folder by a path that optimum takes no more; here it is
given the file's name."""

import asyncio
import importlib
import os
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path

os.environ["INFINITY_ANONYMOUS_USAGE_STATS"] = "0"

import numpy as np
import onnxruntime

from measure import versions
from model import session_options
from online import Online


def limit_threads(threads):
    """Infinity has no setting for ONNX Runtime's threads."""
    session = onnxruntime.InferenceSession

    class Limited(session):
        def __init__(self, path, sess_options=None, *args, **kwargs):
            options = sess_options or onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            super().__init__(path, options, *args, **kwargs)

    onnxruntime.InferenceSession = Limited


class Infinity(Online):
    def __init__(self, folder, load, threads):
        limit_threads(threads)
        # Infinity keeps the graphs that it optimises; each run makes its own.
        self.home = tempfile.TemporaryDirectory()
        os.environ["HF_HOME"] = os.environ["INFINITY_HOME"] = self.home.name
        model = Path(self.home.name) / "model"
        model.mkdir()
        for file in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.onnx"):
            shutil.copy(Path(folder) / file, model)
        from infinity_emb import AsyncEmbeddingEngine, EngineArgs

        self.load = load
        self.prepare()
        self.engine = AsyncEmbeddingEngine.from_args(
            EngineArgs(model_name_or_path=str(model), engine="optimum", device="cpu", model_warmup=False)
        )

    def versions(self):
        return versions("infinity-emb", "optimum-onnx", "transformers", "onnxruntime")

    def prepare(self):
        from infinity_emb.transformer.classifier import optimum

        optimum.get_onnx_files = lambda **_: Path("model.onnx")

    @asynccontextmanager
    async def started(self):
        async with self.engine:
            yield


class Pairs(Infinity):
    def prepare(self):
        # The package has a function of the module's name.
        select_model = importlib.import_module("infinity_emb.inference.select_model")
        from infinity_emb.transformer.crossencoder import optimum

        optimum.get_onnx_files = lambda **_: Path("model.onnx")
        peer = self

        class ThreeWay(optimum.OptimumCrossEncoder):
            def encode_pre(self, pairs):
                features = self.tokenizer(
                    pairs,
                    max_length=self.config.max_position_embeddings,
                    padding=True,
                    truncation="longest_first",
                    return_tensors="np",
                )
                features = {name: array.astype(np.int64) for name, array in features.items()}
                peer.meter.batch(features["attention_mask"])
                return features

            def encode_post(self, logits):
                return list(logits)

        class Chosen:
            value = ThreeWay

        select_model.get_engine_type_from_config = lambda arguments: Chosen

    async def score(self, pairs):
        async def one(premise, hypothesis):
            ranked, _ = await self.engine.rerank(query=premise, docs=[hypothesis], raw_scores=True)
            return ranked[0].relevance_score

        return await asyncio.gather(*(one(*pair) for pair in pairs))


class Texts(Infinity):
    """Its classifier gives probabilities, of which the logarithms are logits; they are
    those of other token types, so they say nothing about the other peers'."""

    async def score(self, pairs):
        texts = [f"{premise} [SEP] {hypothesis}" for premise, hypothesis in pairs]
        classes, _ = await self.engine.classify(sentences=texts)
        order = {"entailment": 0, "neutral": 1, "contradiction": 2}
        return [
            [np.log(c["score"]) for c in sorted(row, key=lambda c: order[c["label"]])] for row in classes
        ]
