"""sentence-transformers' CrossEncoder with its defaults, given all pairs at once."""

import shutil
import tempfile
from pathlib import Path

import torch
from sentence_transformers import CrossEncoder

from measure import Meter, versions
from model import session_options


class Given:
    def saturate(self, requests, clients):
        pairs, meter = self.load.pairs(requests), Meter()
        self.meter = meter
        with meter:
            logits = self.encoder.predict(pairs, show_progress_bar=False)
        return meter.outcome(logits)

    def watch(self, tokenizer_of):
        """Counts the padding of what the tokenizer makes."""
        inner = tokenizer_of.tokenizer

        class Watched(type(inner)):
            def __call__(watched, *args, **kwargs):
                features = super().__call__(*args, **kwargs)
                if hasattr(self, "meter"):
                    self.meter.batch(features["attention_mask"].numpy())
                return features

        inner.__class__ = Watched


class OnnxCrossEncoder(Given):
    """backend="onnx", with the same model file."""

    def __init__(self, folder, load, threads):
        torch.set_num_threads(threads)
        self.load = load
        self.encoder = CrossEncoder(
            folder,
            backend="onnx",
            device="cpu",
            model_kwargs={
                "file_name": "model.onnx",
                "provider": "CPUExecutionProvider",
                "session_options": session_options(threads),
            },
        )
        self.watch(self.encoder)

    def versions(self):
        return versions("sentence-transformers", "transformers", "optimum-onnx", "onnxruntime", "torch")


class TorchCrossEncoder(Given):
    """backend="torch", which is its default, with the same weights."""

    def __init__(self, folder, load, threads):
        torch.set_num_threads(threads)
        self.load = load
        with tempfile.TemporaryDirectory() as copy:
            save_weights(Path(folder), Path(copy))
            self.encoder = CrossEncoder(copy, device="cpu")
        self.watch(self.encoder)

    def versions(self):
        return versions("sentence-transformers", "transformers", "torch")


# Where Hugging Face's BERT keeps what the model file calls so; {} is a layer.
NAMES = {
    "word": "bert.embeddings.word_embeddings.weight",
    "position": "bert.embeddings.position_embeddings.weight",
    "token_type": "bert.embeddings.token_type_embeddings.weight",
    "embeddings_norm": "bert.embeddings.LayerNorm",
    "query": "bert.encoder.layer.{}.attention.self.query",
    "key": "bert.encoder.layer.{}.attention.self.key",
    "value": "bert.encoder.layer.{}.attention.self.value",
    "attention_out": "bert.encoder.layer.{}.attention.output.dense",
    "attention_norm": "bert.encoder.layer.{}.attention.output.LayerNorm",
    "feed_up": "bert.encoder.layer.{}.intermediate.dense",
    "feed_down": "bert.encoder.layer.{}.output.dense",
    "output_norm": "bert.encoder.layer.{}.output.LayerNorm",
    "pooler": "bert.pooler.dense",
    "classifier": "classifier",
}


def save_weights(folder, target):
    """Writes the weights of the model file as Hugging Face's BERT has them."""
    import onnx
    import numpy as np
    from onnx.numpy_helper import to_array
    from safetensors.numpy import save_file

    weights = {}
    for tensor in onnx.load(str(folder / "model.onnx")).graph.initializer:
        parts = tensor.name.split(".")
        layer = parts[1] if parts[0] == "layers" else None
        kind = parts[-1] if len(parts) > 1 else ""
        array = to_array(tensor)
        if parts[2:] == ["attention", "bias"]:  # those of query, key and value, one after another
            for part, bias in zip(("query", "key", "value"), np.split(array, 3), strict=True):
                weights[f"{NAMES[part].format(layer)}.bias"] = bias
            continue
        name = NAMES.get(parts[2 if layer else 0])
        if name is None:
            continue
        if kind == "weight" and array.ndim == 2:
            array = array.T.copy()  # a matrix of the graph multiplies from the right
        weights[name.format(layer) + (f".{kind}" if kind else "")] = array
    save_file(weights, str(target / "model.safetensors"), metadata={"format": "pt"})
    for file in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(folder / file, target)
