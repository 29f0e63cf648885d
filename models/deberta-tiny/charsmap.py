"""SentencePiece's compiled normalization rules, with rules of our own.

The format: the trie's size in bytes (uint32), the trie (a double array of
uint32 units over UTF-8 bytes, as Darts-clone lays it out), then the
replacements, each ended by a zero byte. A key's value is the offset of its
replacement.
"""

import struct
import unicodedata

# Ranges whose compatibility forms have been fixed since Unicode 3, so that every
# Python has the same.
_COMPATIBLE = ((0x00A0, 0x00BE), (0x2000, 0x200A), (0x2070, 0x208E), (0x2100, 0x2138), (0x2153, 0x217F), (0x2460, 0x24EA), (0xFB00, 0xFB06), (0xFF01, 0xFF5E))
_TO_SPACE = (0x09, 0x0A, 0x0D, 0x3000, 0x2028, 0x2029)
_DROPPED = (*range(0x01, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0x7F, 0x200B, 0x200E, 0x200F, 0xFEFF)


def rules():
    """Return {character: replacement}."""
    table = {}
    for first, last in _COMPATIBLE:
        for code in range(first, last + 1):
            form = unicodedata.normalize("NFKC", chr(code))
            if form != chr(code):
                table[chr(code)] = form
    table.update({chr(code): " " for code in _TO_SPACE})
    table.update({chr(code): "" for code in _DROPPED})
    return table


def build():
    """Return the compiled rules as bytes."""
    texts, offsets = bytearray(), {}
    root = {}
    for source, target in sorted(rules().items()):
        if target not in offsets:
            offsets[target] = len(texts)
            texts += target.encode("utf-8") + b"\0"
        node = root
        for byte in source.encode("utf-8"):
            node = node.setdefault(byte, {})
        node[0] = offsets[target]  # the leaf stands under the byte 0
    trie = b"".join(struct.pack("<I", unit) for unit in _double_array(root))
    return struct.pack("<I", len(trie)) + trie + bytes(texts)


def _double_array(root):
    units, taken = {0: 0}, {0}
    blocks = 1

    def place(node, at, label):
        # A node's children stand at base ^ byte; its unit holds base ^ its own place.
        nonlocal blocks
        base = next(b for b in range(1, 1 << 21) if not any((b ^ byte) in taken for byte in node))
        taken.update(base ^ byte for byte in node)
        blocks = max(blocks, (base >> 8) + 1)
        units[at] = (at ^ base) << 10 | (0 in node) << 8 | label
        for byte in sorted(node):
            if byte == 0:
                units[base] = 1 << 31 | node[0]
            else:
                place(node[byte], base ^ byte, byte)

    place(root, 0, 0)
    # Whole blocks of 256, so that no lookup leaves the array.
    return [units.get(i, 0) for i in range(256 * blocks)]
