"""The model as a torch module, with the names of weights.py for its parameters."""

import torch
from torch import nn
from torch.nn import functional

from paths import weights as layout


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        wide = 4 * layout.HIDDEN
        for name in ("query", "key", "value", "attention_out"):
            setattr(self, name, nn.Linear(layout.HIDDEN, layout.HIDDEN))
        self.feed_up = nn.Linear(layout.HIDDEN, wide)
        self.feed_down = nn.Linear(wide, layout.HIDDEN)
        self.attention_norm = nn.LayerNorm(layout.HIDDEN, eps=1e-12)
        self.output_norm = nn.LayerNorm(layout.HIDDEN, eps=1e-12)

    def forward(self, hidden, bias, dropout):
        rows, length, width = hidden.shape
        heads = lambda x: x.view(rows, length, layout.HEADS, -1).transpose(1, 2)  # noqa: E731
        attended = functional.scaled_dot_product_attention(
            heads(self.query(hidden)), heads(self.key(hidden)), heads(self.value(hidden)), attn_mask=bias
        )
        attended = self.attention_out(attended.transpose(1, 2).reshape(rows, length, width))
        hidden = self.attention_norm(hidden + functional.dropout(attended, dropout, self.training))
        fed = self.feed_down(functional.gelu(self.feed_up(hidden)))
        return self.output_norm(hidden + functional.dropout(fed, dropout, self.training))


class CrossEncoder(nn.Module):
    """MiniLM with a pooler and three classes.

    weights is what weights.merge returns. Embeddings and the first `frozen`
    layers are not trained: the delta that comes out has to stay small, and
    backpropagation stops early.
    """

    def __init__(self, weights, frozen=2, dropout=0.05):
        super().__init__()
        self.frozen, self.dropout = frozen, dropout
        self.word = nn.Embedding(*weights["word"].shape)
        self.position = nn.Embedding(*weights["position"].shape)
        self.token_type = nn.Embedding(*weights["token_type"].shape)
        self.embeddings_norm = nn.LayerNorm(layout.HIDDEN, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layout.LAYERS))
        self.pooler = nn.Linear(layout.HIDDEN, layout.HIDDEN)
        self.classifier = nn.Linear(layout.HIDDEN, 3)
        self.load_state_dict({_torch_name(name): torch.tensor(array) for name, array in weights.items()})
        for part in (self.word, self.position, self.token_type, self.embeddings_norm, *self.layers[:frozen]):
            part.requires_grad_(False)

    def forward(self, ids, type_ids, mask):
        """Return logits [rows, 3] of int64 [rows, length] inputs."""
        bias = (1.0 - mask[:, None, None, :].float()) * -1e4
        with torch.no_grad():
            places = torch.arange(ids.shape[1])
            hidden = self.embeddings_norm(self.word(ids) + self.position(places) + self.token_type(type_ids))
            for layer in self.layers[: self.frozen]:
                hidden = layer(hidden, bias, 0.0)
        for layer in self.layers[self.frozen :]:
            hidden = layer(hidden, bias, self.dropout)
        pooled = torch.tanh(self.pooler(hidden[:, 0]))
        return self.classifier(functional.dropout(pooled, self.dropout, self.training))

    def weights(self):
        """Return the weights as float32 arrays, named as weights.py names them."""
        return {_our_name(name): tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}


_EMBEDDINGS = ("word", "position", "token_type")


def _torch_name(name):
    return f"{name}.weight" if name in _EMBEDDINGS else name


def _our_name(name):
    base = name.removesuffix(".weight")
    return base if base in _EMBEDDINGS else name
