"""Writes the weights as an ONNX graph (opset 17): fp32, fp16 or int8.

Inputs: input_ids and attention_mask, int64 [batch, sequence]; with type_ids
also token_type_ids, which a DeBERTa-v3 (type_vocab_size 0) takes and ignores.
Output: logits [batch, 3], float32, or float16 of the fp16 graph.
"""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from forward import bucket
from weights import BUCKETS, EPSILON, HEADS, HIDDEN, LAYERS, POSITIONS


def model(weights, precision="fp32", type_ids=False):
    """Return a checked onnx.ModelProto of precision fp32, fp16 or int8."""
    graph = _Graph(weights, precision)
    graph.node("Identity", [graph.classify(graph.encode())], "logits")
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * type_ids
    return finish(
        "deberta-tiny",
        graph.nodes,
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in names],
        [helper.make_tensor_value_info("logits", graph.onnx_type, ["batch", 3])],
        graph.constants,
    )


def finish(name, nodes, inputs, outputs, constants):
    """Return the checked model of a graph's parts."""
    proto = helper.make_model(
        helper.make_graph(nodes, name, inputs, outputs, constants),
        opset_imports=[helper.make_opsetid("", 17)],
        producer_name="stepgap",
    )
    proto.ir_version = 8  # what opset 17 came with; keeps the bytes the same under any onnx version
    onnx.checker.check_model(proto)
    return proto


class _Graph:
    """Collects nodes and constants; every method returns the name of its output."""

    def __init__(self, weights, precision):
        self.weights = weights
        self.int8 = precision == "int8"
        self.type = np.float16 if precision == "fp16" else np.float32
        self.onnx_type = TensorProto.FLOAT16 if precision == "fp16" else TensorProto.FLOAT
        self.nodes = []
        self.constants = []
        size = HIDDEN // HEADS
        self.heads_shape = self.whole("heads_shape", [0, 0, HEADS, size])
        self.hidden_shape = self.whole("hidden_shape", [0, 0, HIDDEN])
        self.scale = self.number("scale", 1 / math.sqrt(3 * size))
        self.half = self.number("half", 0.5)
        self.one = self.number("one", 1)
        self.root_half = self.number("root_half", 1 / math.sqrt(2))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def number(self, name, value):
        return self.constant(name, np.asarray(value, self.type))

    def whole(self, name, value):
        return self.constant(name, np.asarray(value, np.int64))

    def weight(self, name):
        return self.constant(name, self.weights[name].astype(self.type))

    def node(self, kind, inputs, output=None, **attributes):
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    # -- layers ---------------------------------------------------------------

    def encode(self):
        """Return the last hidden states, [batch, sequence, hidden]."""
        kept = self.node("Cast", ["attention_mask"], to=self.onnx_type)
        ids = self.node("Gather", [self.weight("deberta.embeddings.word_embeddings.weight"), "input_ids"])
        hidden = self.norm("deberta.embeddings.LayerNorm", ids)
        hidden = self.node("Mul", [hidden, self.node("Unsqueeze", [kept, self.whole("axis_2", [2])])])
        relative = self.norm("deberta.encoder.LayerNorm", self.weight("deberta.encoder.rel_embeddings.weight"))
        # [1, positions, hidden], so that the same reshaping fits it
        relative = self.node("Unsqueeze", [relative, self.whole("axis_0", [0])])
        positions, mask = self.positions(), self.mask()
        for layer in range(LAYERS):
            at = f"deberta.encoder.layer.{layer}"
            context = self.attention(f"{at}.attention.self", hidden, relative, positions, mask)
            attended = self.linear(f"{at}.attention.output.dense", context)
            hidden = self.norm(f"{at}.attention.output.LayerNorm", self.node("Add", [hidden, attended]))
            fed = self.gelu(self.linear(f"{at}.intermediate.dense", hidden))
            hidden = self.norm(f"{at}.output.LayerNorm", self.node("Add", [hidden, self.linear(f"{at}.output.dense", fed)]))
        return hidden

    def classify(self, hidden):
        first = self.node("Gather", [hidden, self.whole("first_token", 0)], axis=1)
        return self.float_linear("classifier", self.gelu(self.float_linear("pooler.dense", first)))

    def positions(self):
        """Return each pair of tokens' row of the relative embeddings, int64 [sequence, sequence]."""
        zero, one = self.whole("zero", 0), self.whole("step", 1)
        length = self.node("Gather", [self.node("Shape", ["input_ids"]), one])
        order = self.node("Range", [zero, length, one])
        rows = self.node("Unsqueeze", [order, self.whole("axis_1", [1])])
        distance = self.node("Sub", [rows, self.node("Unsqueeze", [order, "axis_0"])])
        table = [min(max(bucket(d) + BUCKETS, 0), 2 * BUCKETS - 1) for d in range(1 - POSITIONS, POSITIONS)]
        shifted = self.node("Add", [distance, self.whole("farthest", POSITIONS - 1)])
        return self.node("Gather", [self.whole("buckets", table), shifted])

    def mask(self):
        """Return which pairs of tokens see each other, bool [batch, 1, sequence, sequence]."""
        row = self.node("Unsqueeze", ["attention_mask", self.whole("axes_1_2", [1, 2])])
        column = self.node("Unsqueeze", ["attention_mask", self.whole("axes_1_3", [1, 3])])
        return self.node("Cast", [self.node("Mul", [row, column])], to=TensorProto.BOOL)

    def attention(self, at, hidden, relative, positions, mask):
        """Disentangled attention; queries and keys of positions share the tokens' matrices."""
        query, key, value = (self.heads(f"{at}.{name}", hidden, [0, 2, 1, 3]) for name in ("query_proj", "key_proj", "value_proj"))
        position_query, position_key = (self.heads(f"{at}.{name}", relative, [0, 2, 3, 1]) for name in ("query_proj", "key_proj"))
        scores = self.node("MatMul", [query, self.node("Transpose", [key], perm=[0, 1, 3, 2])])
        index = self.node("Expand", [positions, self.node("Shape", [scores])])
        to_position = self.node("GatherElements", [self.node("MatMul", [query, position_key]), index], axis=3)
        # The key of j meets the query of the position that i has as seen from j.
        index = self.node("Transpose", [index], perm=[0, 1, 3, 2])
        from_position = self.node("GatherElements", [self.node("MatMul", [key, position_query]), index], axis=3)
        from_position = self.node("Transpose", [from_position], perm=[0, 1, 3, 2])
        scores = self.node("Add", [self.node("Add", [scores, to_position]), from_position])
        scores = self.node("Mul", [scores, self.scale])
        lowest = f"{at}.lowest"
        scores = self.node("Where", [mask, scores, self.number(lowest, np.finfo(self.type).min)])
        context = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), value])
        return self.node("Reshape", [self.node("Transpose", [context], perm=[0, 2, 1, 3]), self.hidden_shape])

    def heads(self, name, inputs, order):
        return self.node("Transpose", [self.node("Reshape", [self.linear(name, inputs), self.heads_shape])], perm=order)

    def gelu(self, inputs):
        erf = self.node("Erf", [self.node("Mul", [inputs, self.root_half])])
        return self.node("Mul", [self.node("Mul", [inputs, self.half]), self.node("Add", [erf, self.one])])

    def norm(self, name, inputs):
        return self.node("LayerNormalization", [inputs, self.weight(f"{name}.weight"), self.weight(f"{name}.bias")], axis=-1, epsilon=EPSILON)

    # -- matrix products ------------------------------------------------------

    def linear(self, name, inputs):
        """Apply a matrix to inputs; in int8, with its rows and the inputs rounded."""
        if not self.int8:
            return self.float_linear(name, inputs)
        # Queries and keys read two things; each name's constants are written once.
        if f"{name}.scale" not in {c.name for c in self.constants}:
            matrix = self.weights[f"{name}.weight"]
            scale = (np.abs(matrix).max(axis=1) / np.float32(127)).astype(np.float32)
            self.constant(f"{name}.weight", np.clip(np.rint(matrix / scale[:, None]), -127, 127).astype(np.int8).T)
            self.constant(f"{name}.zero", np.zeros(len(matrix), np.int8))
            self.constant(f"{name}.scale", scale)
            self.weight(f"{name}.bias")
        made = [f"{name}.{what}_{len(self.nodes)}" for what in ("quantized", "quantized_scale", "quantized_zero")]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [inputs], made, name=made[0]))
        product = self.node("MatMulInteger", [made[0], f"{name}.weight", made[2], f"{name}.zero"])
        unit = self.node("Mul", [made[1], f"{name}.scale"])
        product = self.node("Mul", [self.node("Cast", [product], to=TensorProto.FLOAT), unit])
        return self.node("Add", [product, f"{name}.bias"])

    def float_linear(self, name, inputs):
        if f"{name}.weight" not in {c.name for c in self.constants}:
            self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T.astype(self.type))
            self.weight(f"{name}.bias")
        return self.node("Add", [self.node("MatMul", [inputs, f"{name}.weight"]), f"{name}.bias"])
