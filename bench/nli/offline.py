"""Workers that have all pairs before them when they start."""

import time

from measure import Meter, versions
from model import Model, packed

# Sizes that are tried at the start; the quickest on this machine is kept.
SIZES = [(budget, padding) for budget in (512, 1024, 4096) for padding in (0, 0.02)]


class Worker:
    """Encodes, sorts by length, packs, pads, runs."""

    def __init__(self, folder, load, threads):
        self.load = load
        self.model = Model(folder, threads)
        self.budget, self.padding = self.quickest()

    def versions(self):
        return versions("onnxruntime", "tokenizers", "numpy") | {
            "batches": f"at most {self.budget} tokens and {self.padding:.0%} padding"
        }

    def quickest(self):
        encodings = self.model.encode(self.load.pairs(len(self.load.requests))[::8])

        def seconds(size):
            feeds = [feed for _, feed in self.batches(encodings, *size)]
            start = time.process_time()
            for feed in feeds:
                self.model.run(feed)
            return time.process_time() - start

        seconds(SIZES[0])
        return min(SIZES, key=seconds)

    def batches(self, encodings, budget, padding):
        for batch in packed([len(e.ids) for e in encodings], budget, padding):
            yield batch, self.model.feed([encodings[i] for i in batch])

    def saturate(self, requests, clients):
        pairs, meter = self.load.pairs(requests), Meter()
        logits = [None] * len(pairs)
        with meter:
            for batch, feed in self.batches(self.model.encode(pairs), self.budget, self.padding):
                for at, row in zip(batch, self.model.run(feed)):
                    logits[at] = row
                meter.batch(feed["attention_mask"])
        return meter.outcome(logits)


class Bare(Worker):
    """ONNX Runtime alone: pairs are encoded, packed and laid out as tensors before the
    clock starts, so that nothing but Run is measured."""

    def saturate(self, requests, clients):
        pairs, meter = self.load.pairs(requests), Meter()
        prepared = list(self.batches(self.model.encode(pairs), self.budget, self.padding))
        run, feeds, logits = self.model.run, [feed for _, feed in prepared], [None] * len(pairs)
        with meter:
            outputs = [run(feed) for feed in feeds]
        for (batch, feed), rows in zip(prepared, outputs):
            meter.batch(feed["attention_mask"])
            for at, row in zip(batch, rows):
                logits[at] = row
        return meter.outcome(logits)
