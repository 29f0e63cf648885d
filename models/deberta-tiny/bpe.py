"""A small byte-level BPE vocabulary and the tokenizer.json that RoBERTa has around it."""

BOS, PAD, EOS, UNK = range(4)
_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")


def _byte_characters():
    """Return GPT-2's printable character for each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(others)}}


def train(words, merges_wanted):
    """Return (vocabulary {token: id}, merges [[left, right]]) for {word: count}."""
    characters = _byte_characters()
    space = characters[0x20]
    parts = {}
    for word, n in words.items():
        for first in (space, ""):
            key = tuple(first + "".join(characters[b] for b in word.encode("utf-8")))
            parts[key] = parts.get(key, 0) + n
    merges = []
    while len(merges) < merges_wanted:
        counts = {}
        for pieces, n in parts.items():
            for pair in zip(pieces, pieces[1:]):
                counts[pair] = counts.get(pair, 0) + n
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(list(best))
        parts = _merged(parts, best)
    tokens = [*_SPECIALS, *sorted(characters.values()), *("".join(pair) for pair in merges)]
    tokens = list(dict.fromkeys(tokens)) + ["<mask>"]
    return {token: i for i, token in enumerate(tokens)}, merges


def _merged(parts, pair):
    out = {}
    for pieces, n in parts.items():
        joined, i = [], 0
        while i < len(pieces):
            if pieces[i : i + 2] == pair:
                joined.append(pieces[i] + pieces[i + 1])
                i += 2
            else:
                joined.append(pieces[i])
                i += 1
        out[tuple(joined)] = out.get(tuple(joined), 0) + n
    return out


def tokenizer_json(vocabulary, merges):
    """Return tokenizer.json as transformers writes it for RoBERTa."""
    def special(token, i):
        return {"id": i, "content": token, "single_word": False, "lstrip": token == "<mask>", "rstrip": False, "normalized": False, "special": True}

    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [special(t, vocabulary[t]) for t in (*_SPECIALS, "<mask>")],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", EOS], "cls": ["<s>", BOS], "trim_offsets": True, "add_prefix_space": False},
        "decoder": byte_level,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocabulary, "merges": merges,
        },
    }
