"""The model on bare onnxruntime and tokenizers."""

from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer


def session_options(threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return options


class Model:
    def __init__(self, folder, threads):
        folder = Path(folder)
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        # A literal "[SEP]" in a text is text.
        self.tokenizer.encode_special_tokens = True
        self.session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), session_options(threads), providers=["CPUExecutionProvider"]
        )
        self.inputs = {i.name for i in self.session.get_inputs()}

    def encode(self, pairs):
        return self.tokenizer.encode_batch(pairs)

    def feed(self, encodings):
        """The inputs of a batch, padded to its longest row."""
        shape = len(encodings), max(len(e.ids) for e in encodings)
        ids, mask, types = (np.zeros(shape, np.int64) for _ in range(3))
        for row, e in enumerate(encodings):
            ids[row, : len(e.ids)] = e.ids
            mask[row, : len(e.ids)] = 1
            types[row, : len(e.ids)] = e.type_ids
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        return {name: array for name, array in feed.items() if name in self.inputs}

    def run(self, feed):
        return self.session.run(["logits"], feed)[0]


def packed(lengths, budget, padding):
    """Indices in batches of similar length, the longest first: rows times the longest
    at most budget tokens, padding at most that share of them."""
    batches, tokens = [], 0
    for at in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        if batches:
            padded = lengths[batches[-1][0]] * (len(batches[-1]) + 1)
            if padded <= budget and padded - tokens - lengths[at] <= padding * padded:
                batches[-1].append(at)
                tokens += lengths[at]
                continue
        batches.append([at])
        tokens = lengths[at]
    return batches
