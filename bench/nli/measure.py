"""What all peers share: the load, and how work is measured."""

import json
import resource
import time
from importlib.metadata import version


class Load:
    """requests: lists of (premise, hypothesis); gaps: times between arrivals, of mean 1."""

    def __init__(self, requests, gaps):
        self.requests = requests
        self.gaps = gaps

    @classmethod
    def read(cls, path):
        with open(path, encoding="utf-8") as file:
            load = json.load(file)
        return cls([[tuple(p) for p in request] for request in load["requests"]], load["gaps"])

    def pairs(self, requests):
        return [pair for request in self.requests[:requests] for pair in request]


class Meter:
    """Measures the processor and wall time of a with block, and counts padding in it."""

    def __init__(self):
        self.tokens = self.padded = self.batches = 0

    def batch(self, mask):
        """Counts a batch by its attention mask."""
        self.batches += 1
        self.tokens += int(mask.sum())
        self.padded += mask.size

    def __enter__(self):
        self.cpu, self.wall = used(), time.perf_counter()
        return self

    def __exit__(self, *_):
        self.cpu, self.wall = used() - self.cpu, time.perf_counter() - self.wall

    def outcome(self, logits, latencies=()):
        """logits: one row a pair, in the order of the load; latencies in seconds."""
        return {
            "pairs": len(logits),
            "cpu_s": self.cpu,
            "wall_s": self.wall,
            "batches": self.batches,
            "padding_share": 1 - self.tokens / self.padded if self.padded else None,
            "latency_ms": [1000 * s for s in latencies],
            "logits": [[float(x) for x in row] for row in logits],
        }


def used():
    """Processor time of all threads of this process, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def versions(*packages):
    return {package: version(package) for package in packages}
