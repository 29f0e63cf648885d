"""Encodes pairs as Python's tokenizers does, for the Go test that compares.

    encode_pairs.py TOKENIZER.json [PAIR_TEXT]

Reads a pair a line from standard input, premise and hypothesis as base64 of
their bytes with a space between; writes a line of JSON each: [ids, type ids].
Truncation and padding are off. Special tokens written out in a text are text;
with PAIR_TEXT, those written there are the real ones, so that pairs must have
none.
"""

import base64
import json
import re
import sys

import tokenizers

_INVALID = re.compile("[\udc80-\udcff]+")  # what surrogateescape makes of bytes that are no UTF-8


def main():
    tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pair_text = sys.argv[2] if len(sys.argv) > 2 else ""
    tokenizer.encode_special_tokens = not pair_text
    pairs = [tuple(text(base64.b64decode(part)) for part in line.rstrip("\n").split(" ")) for line in sys.stdin]
    if pair_text:
        pairs = [fill(pair_text, *pair) for pair in pairs]
    for encoding in tokenizer.encode_batch(pairs):
        print(json.dumps([encoding.ids, encoding.type_ids]))


def text(data):
    """Return bytes as text: a run of invalid bytes is one U+FFFD, and so is a NUL."""
    return _INVALID.sub("\ufffd", data.decode("utf-8", "surrogateescape")).replace("\0", "\ufffd")


def fill(pair_text, premise, hypothesis):
    parts = re.split(r"(\{premise\}|\{hypothesis\})", pair_text)
    return "".join({"{premise}": premise, "{hypothesis}": hypothesis}.get(part, part) for part in parts)


if __name__ == "__main__":
    main()
