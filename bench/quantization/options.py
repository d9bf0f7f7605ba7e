"""What --equalize and --correct-bias change in two networks of MLPerf Tiny, as the table of docs/quantizing.md.

    PYTHONPATH=build/release/python python3 bench/quantization/options.py MODELS PHOTO.bmp ... [--samples 128]

MODELS has pretrainedResnet.tflite and vww_96_float.tflite of https://github.com/mlcommons/tiny. The samples are
random squares of the photographs, BMP of 24 bits, the same ones in each run. Prints the SQNR of the first output in
decibels over the first 64 samples.
"""

import argparse
import struct
from pathlib import Path

import intaglio
import numpy

# The greatest number of a pixel in the network's input.
NETWORKS = {"pretrainedResnet.tflite": 255, "vww_96_float.tflite": 1}


def read_bmp(path):
    data = Path(path).read_bytes()
    if data[:2] != b"BM" or len(data) < 30:
        raise SystemExit(f"{path}: no BMP file")
    start, width, height, bits = (
        struct.unpack_from(kind, data, at)[0] for kind, at in (("<I", 10), ("<i", 18), ("<i", 22), ("<H", 28))
    )
    if bits != 24:
        raise SystemExit(f"{path}: no BMP of 24 bits")
    stride = (3 * width + 3) // 4 * 4
    rows = numpy.frombuffer(data, numpy.uint8, stride * abs(height), start).reshape(abs(height), stride)
    image = rows[:, : 3 * width].reshape(abs(height), width, 3)[:, :, ::-1]
    return image[::-1] if height > 0 else image


def squares(photos, count, extent, most):
    """Random squares, made smaller or larger by taking the nearest pixels."""
    generator = numpy.random.default_rng(1)
    result = numpy.empty((count, 1, extent, extent, 3), numpy.float32)
    for i in range(count):
        photo = photos[generator.integers(len(photos))]
        side = int(generator.integers(min(photo.shape[:2]) // 4, min(photo.shape[:2]) + 1))
        top, left = (int(generator.integers(n - side + 1)) for n in photo.shape[:2])
        places = (numpy.arange(extent) * side) // extent
        result[i, 0] = photo[top + places][:, left + places] * (most / 255)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path)
    parser.add_argument("photos", nargs="+", type=Path)
    parser.add_argument("--samples", type=int, default=128)
    options = parser.parse_args()
    for path in (*options.photos, *(options.models / name for name in NETWORKS)):
        if not path.exists():
            raise SystemExit(f"there is no {path}")
    photos = [read_bmp(path) for path in options.photos]
    print("| network | `--bits` | scales of weights | plain | `--equalize` | `--correct-bias` | both |")
    print("|---|---|---|---|---|---|---|")
    for name, most in NETWORKS.items():
        extent = intaglio.load(options.models / name).inputs[0].shape[1]
        samples = squares(photos, options.samples, extent, most)
        for bits in ("w8a8", "w4a8"):
            for per_channel in (True, False):
                cells = []
                for equalize, correct in ((False, False), (True, False), (False, True), (True, True)):
                    made = intaglio.quantize(
                        options.models / name,
                        samples,
                        bits=bits,
                        per_channel=per_channel,
                        equalize=equalize,
                        correct_bias=correct,
                        report_samples=0,
                    )
                    cells.append(f"{made.outputs[0].sqnr:.1f}")
                scales = "per channel" if per_channel else "`--per-tensor`"
                print(f"| `{name}` | {bits} | {scales} | " + " | ".join(cells) + " |", flush=True)


main()
