"""A BERT classifier between its ONNX file and torch: read, train, write back.

The file must be one that models/nli-minilm/graph.py writes: its initializers have
the names that are used here. Writing changes initializers and the classifier's
width alone, so the student keeps the graph, fused operators and all.
"""

import json
import pathlib

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn
from torch.nn import functional

_LINEARS = ("query", "key", "value", "attention_out", "feed_up", "feed_down")
_NORMS = ("attention_norm", "output_norm")
_TABLES = ("word", "position", "token_type")


class Layer(nn.Module):
    def __init__(self, hidden, wide, heads, epsilon):
        super().__init__()
        self.heads = heads
        for name in _LINEARS[:4]:
            setattr(self, name, nn.Linear(hidden, hidden))
        self.feed_up, self.feed_down = nn.Linear(hidden, wide), nn.Linear(wide, hidden)
        for name in _NORMS:
            setattr(self, name, nn.LayerNorm(hidden, eps=epsilon))

    def forward(self, states, bias, dropout):
        rows, length, width = states.shape
        split = lambda x: x.view(rows, length, self.heads, -1).transpose(1, 2)  # noqa: E731
        attended = functional.scaled_dot_product_attention(
            split(self.query(states)), split(self.key(states)), split(self.value(states)), attn_mask=bias
        )
        attended = self.attention_out(attended.transpose(1, 2).reshape(rows, length, width))
        states = self.attention_norm(states + functional.dropout(attended, dropout, self.training))
        fed = self.feed_down(functional.gelu(self.feed_up(states)))
        return self.output_norm(states + functional.dropout(fed, dropout, self.training))


class Encoder(nn.Module):
    """The classifier, with a head of its own width.

    The embeddings and the first `frozen` layers are not trained.
    """

    def __init__(self, config, classes, frozen=2, dropout=0.1):
        super().__init__()
        hidden, epsilon = config["hidden_size"], config["layer_norm_eps"]
        self.frozen, self.dropout = frozen, dropout
        self.word = nn.Embedding(config["vocab_size"], hidden)
        self.position = nn.Embedding(config["max_position_embeddings"], hidden)
        self.token_type = nn.Embedding(config["type_vocab_size"], hidden)
        self.embeddings_norm = nn.LayerNorm(hidden, eps=epsilon)
        self.layers = nn.ModuleList(
            Layer(hidden, config["intermediate_size"], config["num_attention_heads"], epsilon)
            for _ in range(config["num_hidden_layers"])
        )
        self.pooler = nn.Linear(hidden, hidden)
        self.classifier = nn.Linear(hidden, classes)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)
        for part in (self.word, self.position, self.token_type, self.embeddings_norm, *self.layers[:frozen]):
            part.requires_grad_(False)

    def forward(self, ids, type_ids, mask):
        """Return logits [rows, classes] of int64 [rows, length] inputs."""
        bias = (1.0 - mask[:, None, None, :].float()) * -1e4
        with torch.no_grad():
            places = torch.arange(ids.shape[1])
            states = self.embeddings_norm(self.word(ids) + self.position(places) + self.token_type(type_ids))
            for layer in self.layers[: self.frozen]:
                states = layer(states, bias, 0.0)
        for layer in self.layers[self.frozen :]:
            states = layer(states, bias, self.dropout)
        pooled = torch.tanh(self.pooler(states[:, 0]))
        return self.classifier(functional.dropout(pooled, self.dropout, self.training))


def load(folder, classes, frozen=2, dropout=0.1):
    """Return (Encoder, ONNX model) of a model folder; the head is a new one.

    Raises ValueError where the ONNX file lacks weights of these names.
    """
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    proto = onnx.load(folder / "model.onnx")
    constants = {c.name: numpy_helper.to_array(c) for c in proto.graph.initializer}
    model = Encoder(config, classes, frozen, dropout)
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if not name.startswith("classifier."):
                tensor.copy_(torch.tensor(np.array(_read(constants, name))))
    return model, proto


def save(model, proto, path):
    """Write the ONNX model at path, with the weights of model."""
    proto = _copy(proto)
    weights = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    for constant in proto.graph.initializer:
        array = _write(weights, constant.name)
        if array is not None:
            constant.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), constant.name))
    classes = weights["classifier.bias"].shape[0]
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = classes
    onnx.checker.check_model(proto)
    pathlib.Path(path).write_bytes(proto.SerializeToString(deterministic=True))


def _copy(proto):
    out = onnx.ModelProto()
    out.CopyFrom(proto)
    return out


def _read(constants, name):
    """Return the array of a torch parameter."""
    table = name.removesuffix(".weight")
    if table in _TABLES:
        name = table
    if name in constants:
        array = constants[name]
        return array.T if _is_matrix(name) else array
    prefix, which, part = (name.rsplit(".", 2) + ["", ""])[:3]
    fused = f"{prefix}.attention.bias"
    if part == "bias" and which in _LINEARS[:3] and fused in constants:
        return np.split(constants[fused], 3)[_LINEARS.index(which)]
    raise ValueError(f"the model has no weights {name!r}: train on the fp32 file of a model built like nli-minilm")


def _write(weights, name):
    """Return the array of an initializer, or None where it is no weight."""
    if name in _TABLES:
        return weights[f"{name}.weight"]
    if name.endswith(".attention.bias"):
        prefix = name.removesuffix(".attention.bias")
        return np.concatenate([weights[f"{prefix}.{which}.bias"] for which in _LINEARS[:3]])
    if name not in weights:
        return None
    return weights[name].T if _is_matrix(name) else weights[name]


def _is_matrix(name):
    """The graph keeps matrices as [in, out], torch as [out, in]."""
    parts = name.split(".")
    return parts[-1] == "weight" and parts[-2] in (*_LINEARS, "pooler", "classifier")
