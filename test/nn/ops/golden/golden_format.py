"""Writes .golden files: models, their inputs, and the outputs that others made of them.

test/nn/ops/golden_file.h reads them.


THE .golden FORMAT, little endian. text and bytes are blobs.

    16 bytes  "intaglio-golden\\0"
    u32       version: 1 or 2
    version 2 only:
      u32     number of different blobs; per blob: u32 length, then that many bytes
    u32       number of cases
    per case:
      blob    its name (ASCII)
      blob    the model file
      blob    a part of the error that must come, or empty
      f32     bound: how far outputs of float32 may differ from the recorded ones; 0: not in a bit.
              NaN equals NaN, whatever its sign and payload. Other types never differ. Whoever
              records the file says whether it is a relative bound.
      u32     number of runs (with an error: at most one)
      per run:
        u32   number of inputs; per input: blob (its bytes)
        u32   number of outputs; per output:
          u8  type as in the .tflite format    u8  rank    i32 x rank  shape    blob  its bytes

A blob is a u32 length and that many bytes in version 1. In version 2 it is a u32, the number of a
blob in the list, so what several cases share is stored once.
"""

import struct
from pathlib import Path

# By the names of NumPy; the numbers are those of the .tflite format.
TYPES = {"float32": 0, "int32": 2, "uint8": 3, "int64": 4, "bool": 6, "int16": 7, "int8": 9,
         "uint16": 16}


class _InPlace:
    """The blobs of version 1."""

    def __call__(self, data):
        return struct.pack("<I", len(data)) + data

    def header(self):
        return struct.pack("<I", 1)


class _Shared:
    """The blobs of version 2."""

    def __init__(self):
        self.numbers = {}

    def __call__(self, data):
        return struct.pack("<I", self.numbers.setdefault(data, len(self.numbers)))

    def header(self):
        blobs = [struct.pack("<I", len(data)) + data for data in self.numbers]
        return struct.pack("<II", 2, len(blobs)) + b"".join(blobs)


def write_golden(path, cases, version=1):
    """cases: (name, model, error, bound, runs), where a run is (input arrays, output arrays)."""
    blob = _InPlace() if version == 1 else _Shared()
    data = b""
    for name, model, error, bound, runs in cases:
        data += blob(name.encode("ascii")) + blob(model) + blob(error.encode("ascii"))
        data += struct.pack("<fI", bound, len(runs))
        for feed, result in runs:
            data += struct.pack("<I", len(feed))
            for value in feed:
                data += blob(value.tobytes())
            data += struct.pack("<I", len(result))
            for value in result:
                data += struct.pack("<BB", TYPES[value.dtype.name], value.ndim)
                data += struct.pack(f"<{value.ndim}i", *value.shape) + blob(value.tobytes())
    data = b"intaglio-golden\0" + blob.header() + struct.pack("<I", len(cases)) + data
    Path(path).write_bytes(data)
    print(f"{Path(path).name}: {len(cases)} cases, {len(data)} bytes")
