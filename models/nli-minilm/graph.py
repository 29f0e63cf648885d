"""Writes the merged weights as an ONNX graph (opset 17), in fp32 or int8.

Inputs: input_ids, attention_mask, token_type_ids, all int64 [batch, sequence].
Output: logits, float32 [batch, 3].

The fp32 graph uses ONNX Runtime's own operators for attention and GELU, and keeps the
tokens of a batch as the rows of one matrix so that a Gemm adds the bias: the passes
over memory between the matrix products took a quarter of the time. ONNX Runtime makes
neither out of standard operators by itself. Of the last layer it computes the first
tokens alone, since the classifier reads no other: an eighth less work. The int8 graph
has standard operators only.
"""

import math

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from weights import HEADS, HIDDEN, LAYERS

_FUSED = "com.microsoft"  # the domain of ONNX Runtime's own operators
_ASKING = 2  # tokens that the last layer computes
_MASKED = -10000.0  # added to the attention scores of padding
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def model(weights, int8=False):
    """Return a checked onnx.ModelProto.

    The logits of int8 depend a little on what else is in the batch.
    """
    graph = _Standard(weights) if int8 else _Fused(weights)
    output = graph.classify(graph.pooled_from())
    graph.node("Identity", [output], "logits")
    proto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "nli-minilm",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in _INPUTS],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 3])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 17)] + ([] if int8 else [helper.make_opsetid(_FUSED, 1)]),
        producer_name="stepgap",
    )
    proto.ir_version = 8  # what opset 17 came with; keeps the bytes the same under any onnx version
    onnx.checker.check_model(proto)
    return proto


class _Graph:
    """Collects nodes and constants; every method returns the name of its output."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = []

    def constant(self, name, value):
        # asarray keeps a scalar 0-d; ascontiguousarray would make it 1-d and change the logits' shape
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def weight(self, name):
        return self.constant(name, self.weights[name])

    def matrix(self, name):
        """Return a linear layer's weights as [in, out]."""
        return self.constant(f"{name}.weight", self.weights[f"{name}.weight"].T)

    def node(self, kind, inputs, output=None, **attributes):
        output = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def norm(self, name, inputs):
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.node("LayerNormalization", [inputs, scale, bias], axis=-1, epsilon=1e-12)

    def embeddings(self, words):
        """Return words, [batch, sequence, hidden], with types and positions added, normed."""
        zero, one, two = (self.constant(f"axis_{i}", np.array([i], np.int64)) for i in range(3))
        length = self.node("Slice", [self.node("Shape", ["input_ids"]), one, two, zero])
        position = self.node("Slice", [self.weight("position"), zero, length, zero])
        token_type = self.node("Gather", [self.weight("token_type"), "token_type_ids"])
        added = self.node("Add", [self.node("Add", [words, token_type]), position])
        return self.norm("embeddings_norm", added)

    def first_token(self, hidden):
        """Return [batch, hidden] of [batch, sequence, hidden]."""
        return self.node("Gather", [hidden, self.constant("first_token", np.int64(0))], axis=1)

    def classify(self, first):
        """Return the logits for the first token's hidden state, [batch, hidden]."""
        pooled = self.node("Tanh", [self.product("pooler", first)])
        return self.product("classifier", pooled)

    def product(self, name, inputs):
        return self.node("Add", [self.node("MatMul", [inputs, self.matrix(name)]), self.weight(f"{name}.bias")])


class _Fused(_Graph):
    """The fp32 graph, whose hidden states are [batch * sequence, hidden].

    The classifier reads the first token alone, so the last layer computes only the first
    two. (One alone would be a vector, for which ONNX Runtime's attention has a routine of
    its own that adds up padding in another order: a pair's bits would hang on its batch.)
    """

    def pooled_from(self):
        """Return the first token's last hidden state, [batch, hidden]."""
        embedded = self.embeddings(self.node("Gather", [self.weight("word"), "input_ids"]))
        shape = self.node("Shape", [embedded])
        rows = self.constant("rows_shape", np.array([-1, HIDDEN], np.int64))
        asking_from, asking_to, tokens = (
            self.constant(name, np.array([i], np.int64))
            for name, i in (("asking_from", 0), ("asking_to", _ASKING), ("tokens_axis", 1))
        )
        last_shape = self.constant("last_shape", np.array([-1, _ASKING, HIDDEN], np.int64))
        mask = self.node("Cast", ["attention_mask"], to=TensorProto.INT32)
        hidden = self.node("Reshape", [embedded, rows])
        for layer in range(LAYERS):
            prefix = f"layers.{layer}"
            asking, asking_shape = hidden, shape
            if layer == LAYERS - 1:
                asking = self.node("Slice", [self.node("Reshape", [hidden, shape]), asking_from, asking_to, tokens])
                asking, asking_shape = self.node("Reshape", [asking, rows]), last_shape
            query = self.project(f"{prefix}.query", asking, asking_shape)
            key, value = (self.project(f"{prefix}.{name}", hidden, shape) for name in ("key", "value"))
            context = self.node("Reshape", [self.attention(prefix, query, key, value, mask), rows])
            hidden = self.feed(prefix, asking, context)
        return self.first_token(self.node("Reshape", [hidden, last_shape]))

    def project(self, name, hidden, shape):
        """Return hidden times the layer's weights as [batch, tokens, hidden]; attention adds the bias."""
        return self.node("Reshape", [self.node("MatMul", [hidden, self.matrix(name)]), shape])

    def attention(self, prefix, query, key, value, mask):
        biases = np.concatenate([self.weights[f"{prefix}.{name}.bias"] for name in ("query", "key", "value")])
        return self.node(
            "MultiHeadAttention",
            [query, key, value, self.constant(f"{prefix}.attention.bias", biases), mask],
            num_heads=HEADS,
            mask_filter_value=_MASKED,
            domain=_FUSED,
        )

    def feed(self, prefix, hidden, context):
        """Return a layer's output rows for its input rows and what these attended to."""
        attended = self.linear(f"{prefix}.attention_out", context)
        hidden = self.norm(f"{prefix}.attention_norm", self.node("Add", [hidden, attended]))
        up = self.node("Gelu", [self.linear(f"{prefix}.feed_up", hidden)], domain=_FUSED)
        fed = self.linear(f"{prefix}.feed_down", up)
        return self.norm(f"{prefix}.output_norm", self.node("Add", [hidden, fed]))

    def linear(self, name, inputs):
        return self.node("Gemm", [inputs, self.matrix(name), self.weight(f"{name}.bias")])


class _Standard(_Graph):
    """The int8 graph, whose hidden states are [batch, sequence, hidden].

    Word embeddings and encoder matrices are int8 with one scale a row, and activations
    are quantized as they come; so its logits depend a little on what else is in the
    batch. Pooler and classifier stay fp32.
    """

    def __init__(self, weights):
        super().__init__(weights)
        self.one = self.constant("one", np.float32(1))
        self.half = self.constant("half", np.float32(0.5))
        self.root_half = self.constant("root_half", np.float32(1 / math.sqrt(2)))
        self.score_scale = self.constant("score_scale", np.float32(1 / math.sqrt(HIDDEN // HEADS)))
        self.heads_shape = self.constant("heads_shape", np.array([0, 0, HEADS, HIDDEN // HEADS], np.int64))
        self.hidden_shape = self.constant("hidden_shape", np.array([0, 0, HIDDEN], np.int64))

    def pooled_from(self):
        """Return the first token's last hidden state, [batch, hidden]."""
        hidden = self.embeddings(self.words())
        mask = self.mask()
        for layer in range(LAYERS):
            prefix = f"layers.{layer}"
            attended = self.linear(f"{prefix}.attention_out", self.attention(prefix, hidden, mask))
            hidden = self.norm(f"{prefix}.attention_norm", self.node("Add", [hidden, attended]))
            fed = self.linear(f"{prefix}.feed_down", self.gelu(self.linear(f"{prefix}.feed_up", hidden)))
            hidden = self.norm(f"{prefix}.output_norm", self.node("Add", [hidden, fed]))
        return self.first_token(hidden)

    def words(self):
        quantized, scale = _quantize_rows(self.weights["word"])
        row = self.node("Gather", [self.constant("word", quantized), "input_ids"])
        row_scale = self.node("Gather", [self.constant("word_scale", scale[:, None]), "input_ids"])
        return self.node("Mul", [self.node("Cast", [row], to=TensorProto.FLOAT), row_scale])

    def mask(self):
        """Return what is added to the attention scores: 0 for tokens, _MASKED for padding."""
        axes = self.constant("mask_axes", np.array([1, 2], np.int64))
        kept = self.node("Cast", [self.node("Unsqueeze", ["attention_mask", axes])], to=TensorProto.FLOAT)
        penalty = self.constant("mask_penalty", np.float32(_MASKED))
        return self.node("Mul", [self.node("Sub", [self.one, kept]), penalty])

    def attention(self, prefix, hidden, mask):
        quantized = self.quantize(prefix, hidden)
        query, key, value = (
            self.node("Reshape", [self.linear(f"{prefix}.{name}", hidden, quantized), self.heads_shape])
            for name in ("query", "key", "value")
        )
        query = self.node("Transpose", [query], perm=[0, 2, 1, 3])
        key = self.node("Transpose", [key], perm=[0, 2, 3, 1])
        value = self.node("Transpose", [value], perm=[0, 2, 1, 3])
        scores = self.node("Mul", [self.node("MatMul", [query, key]), self.score_scale])
        shares = self.node("Softmax", [self.node("Add", [scores, mask])], axis=-1)
        context = self.node("Transpose", [self.node("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        return self.node("Reshape", [context, self.hidden_shape])

    def gelu(self, inputs):
        erf = self.node("Erf", [self.node("Mul", [inputs, self.root_half])])
        return self.node("Mul", [self.node("Mul", [inputs, self.half]), self.node("Add", [erf, self.one])])

    def linear(self, name, inputs, quantized=None):
        values, scale, zero_point = quantized or self.quantize(name, inputs)
        matrix, row_scale = _quantize_rows(self.weights[f"{name}.weight"])
        product = self.node(
            "MatMulInteger",
            [
                values,
                self.constant(f"{name}.weight", matrix.T),
                zero_point,
                self.constant(f"{name}.zero", np.zeros(len(matrix), np.int8)),
            ],
        )
        product = self.node("Cast", [product], to=TensorProto.FLOAT)
        unit = self.node("Mul", [scale, self.constant(f"{name}.scale", row_scale)])
        return self.node("Add", [self.node("Mul", [product, unit]), self.weight(f"{name}.bias")])

    def quantize(self, name, inputs):
        outputs = [f"{name}.quantized", f"{name}.quantized_scale", f"{name}.quantized_zero"]
        self.nodes.append(helper.make_node("DynamicQuantizeLinear", [inputs], outputs, name=outputs[0]))
        return outputs


def _quantize_rows(matrix):
    """Return (int8 matrix, float32 scale per row) with matrix ~ int8 * scale."""
    scale = (np.abs(matrix).max(axis=1) / np.float32(127)).astype(np.float32)
    scale[scale == 0] = 1  # a row of zeros: any scale will do
    return np.clip(np.rint(matrix / scale[:, None]), -127, 127).astype(np.int8), scale
