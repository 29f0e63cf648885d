"""A small Unigram vocabulary and the tokenizer.json that DeBERTa-v3 has around it.

The trainer is plain Python and free of chance, so it gives the same vocabulary
on every machine; the Rust trainer of `tokenizers` does not promise that.
"""

import base64
import math

import charsmap

SPACE = "\u2581"  # SentencePiece's mark of a word's start
PAD, CLS, SEP, UNK = range(4)
_LONGEST = 12  # characters of a piece


def train(words, alphabet, size):
    """Return [(piece, log probability)] of size - 1 pieces, specials first.

    words is {word: count}. The last id, size - 1, is left for [MASK].
    """
    counts = {SPACE + word: n for word, n in words.items()}
    singles = sorted({c for word in counts for c in word} | set(map(chr, range(0x21, 0x7F))) | set(alphabet))
    seeds = {}
    for word, n in counts.items():
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + _LONGEST) + 1):
                seeds[word[start:end]] = seeds.get(word[start:end], 0) + n
    room = size - 1 - 4 - len(singles)
    by_worth = sorted(((n * len(piece), piece) for piece, n in seeds.items() if n > 1), reverse=True)
    frequency = {piece: seeds[piece] for _, piece in by_worth[: 4 * room]}
    # Expectation by the best split alone, then all but the most used are dropped.
    for keep in (3 * room, 2 * room, room, room):
        scores = _log_probabilities(frequency, singles)
        used = {}
        for word, n in counts.items():
            for piece in split(word, scores):
                used[piece] = used.get(piece, 0) + n
        ranked = sorted(((used.get(p, 0), len(p), p) for p in frequency), reverse=True)
        frequency = {piece: max(n, 1) for n, _, piece in ranked[:keep]}
    scores = _log_probabilities(frequency, singles)
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    vocabulary = [[token, 0.0] for token in ("[PAD]", "[CLS]", "[SEP]", "[UNK]")] + [list(item) for item in ordered]
    if len(vocabulary) != size - 1:
        raise ValueError(f"the text gives {len(vocabulary)} pieces, {size - 1} are wanted")
    return vocabulary


def _log_probabilities(frequency, singles):
    counted = {**{c: 1 for c in singles}, **frequency}
    total = math.log(sum(counted.values()))
    return {piece: round(math.log(n) - total, 6) for piece, n in counted.items()}


def split(word, scores):
    """Return the most probable split of a word whose characters are all known."""
    best = [(0.0, 0)] + [(-math.inf, 0)] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(max(0, end - _LONGEST - 1), end):
            score = scores.get(word[start:end])
            if score is not None and best[start][0] + score > best[end][0]:
                best[end] = (best[start][0] + score, start)
    pieces, end = [], len(word)
    while end:
        start = best[end][1]
        pieces.append(word[start:end])
        end = start
    return pieces[::-1]


def encode_pair(vocabulary, premise, hypothesis):
    """Return the ids of a pair of plain texts (single spaces, known characters)."""
    ids = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    scores = {piece: score for piece, score in vocabulary[4:]}

    def text(t):
        return [ids[piece] for word in t.split() for piece in split(SPACE + word, scores)]

    return [CLS, *text(premise), SEP, *text(hypothesis), SEP]


def tokenizer_json(vocabulary):
    """Return tokenizer.json as transformers writes it for DeBERTa-v3."""
    def special(token, i):
        return {"id": i, "content": token, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}

    def piece(kind, name, type_id):
        return {kind: {"id": name, "type_id": type_id}}

    metaspace = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": "always", "split": True}
    begin, first, end = piece("SpecialToken", "[CLS]", 0), piece("Sequence", "A", 0), piece("SpecialToken", "[SEP]", 0)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(t, i) for t, i in (("[PAD]", PAD), ("[CLS]", CLS), ("[SEP]", SEP), ("[UNK]", UNK), ("[MASK]", len(vocabulary)))],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Strip", "strip_left": True, "strip_right": True},
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap.build()).decode("ascii")},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [metaspace]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, first, end],
            "pair": [begin, first, end, piece("Sequence", "B", 1), piece("SpecialToken", "[SEP]", 1)],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [CLS], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [SEP], "tokens": ["[SEP]"]},
            },
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": UNK, "vocab": vocabulary, "byte_fallback": False},
    }
