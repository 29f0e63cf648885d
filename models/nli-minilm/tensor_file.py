"""Reading of safetensors files with numpy alone.

The format: an 8-byte little-endian header length, a JSON header that gives each
tensor's dtype, shape and byte range, then the raw little-endian data.
"""

import json
import struct

import numpy as np

_DTYPES = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
}


def parse(data):
    """Return {name: array} for the bytes of a safetensors file.

    The arrays are read-only views of data. Raises ValueError for a file that is
    cut short, names an unknown dtype, or whose ranges do not fit their shapes.
    """
    if len(data) < 8:
        raise ValueError("safetensors: shorter than its length field")
    (header_length,) = struct.unpack_from("<Q", data)
    start = 8 + header_length
    if start > len(data):
        raise ValueError("safetensors: header runs past the end of the file")
    header = json.loads(data[8:start])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        tensors[name] = _tensor(data, start, name, entry)
    return tensors


def _tensor(data, start, name, entry):
    dtype = _DTYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError(f"safetensors: {name}: unknown dtype {entry['dtype']}")
    begin, end = entry["data_offsets"]
    count = int(np.prod(entry["shape"], dtype=np.int64))
    if end - begin != count * dtype.itemsize or start + end > len(data):
        raise ValueError(f"safetensors: {name}: bytes {begin}..{end} do not hold {entry['shape']}")
    return np.frombuffer(data, dtype, count, start + begin).reshape(entry["shape"])
