"""Reads a folder of images with handwritten digits on several workers, with Ray Data.

    pip install . 'ray[data]'                                  # in the root of the checkout
    python examples/batch_inference/batch_inference.py         # writes 500 images, and reads them
    python examples/batch_inference/batch_inference.py --folder scans --workers 3 --answers out.csv

Ray starts on this machine by itself. If RAY_ADDRESS names a cluster, the workers run there, and the
folder lies where all machines see it. Ray shows the progress.
"""

import argparse
import collections
import csv
import os
import tempfile
from pathlib import Path

import intaglio.ray
import numpy
import ray

DIGITS = Path(__file__).resolve().parents[1] / "digits"


def write_images(folder: Path) -> None:
    """Writes the images that the model was not trained on, named NUMBER_DIGIT.pgm: 17 grey levels."""
    images = numpy.load(DIGITS / "heldout_images.npy").astype(int)
    pixels = ((images + 128 + 8) // 16).astype(numpy.uint8)  # the model's input is 16 times as fine
    for number, digit in enumerate(numpy.load(DIGITS / "heldout_labels.npy")):
        path = folder / f"{number:03}_{digit}.pgm"
        path.write_bytes(b"P5 8 8 16\n" + pixels[number].tobytes())


def decode(batch: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """Files to rows: the path says which row is which, and the pixels become the model's input."""
    header = b"P5 8 8 16\n"
    for path, data in zip(batch["path"], batch["bytes"]):
        if not data.startswith(header) or len(data) != len(header) + 64:
            raise ValueError(f"{path}: not a .pgm file of 8 x 8 pixels from 0 to 16")
    pixels = numpy.stack([numpy.frombuffer(data[-64:], numpy.uint8) for data in batch["bytes"]])
    image = 16 * pixels.reshape(-1, 8, 8, 1).astype(int) - 128
    image -= image >= 0  # 255 steps, not 256
    return {"id": batch["path"], "image": image.astype(numpy.int8)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="images; without it, the example makes some")
    parser.add_argument("--workers", type=int, help="default: all CPUs but one, which reads")
    parser.add_argument("--answers", type=Path, help="a .csv file for the answers")
    arguments = parser.parse_args()

    ray.init(num_cpus=None if "RAY_ADDRESS" in os.environ else max(2, os.cpu_count()))
    cpus = int(ray.cluster_resources()["CPU"])
    workers = arguments.workers or cpus - 1
    if not 0 < workers < cpus:
        parser.error(f"{workers} workers of {cpus} CPUs leave none to read the files")
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.folder or Path(made)
        if not arguments.folder:
            write_images(folder)
        files = ray.data.read_binary_files(
            str(folder), include_paths=True, file_extensions=["pgm"], override_num_blocks=20
        )
        scores = files.map_batches(decode).map_batches(
            intaglio.ray.Predict,
            fn_constructor_args=(ray.put((DIGITS / "digits.tflite").read_bytes()),),
            fn_constructor_kwargs={"columns": ["image"], "outputs": ["scores"], "batch": 32},
            compute=ray.data.ActorPoolStrategy(size=workers),
            batch_size=256,
        )
        answers = sorted(
            (Path(row["id"]).name, int(row["scores"].argmax())) for row in scores.iter_rows()
        )

    if arguments.answers:
        with open(arguments.answers, "w", newline="") as file:
            csv.writer(file).writerows([("image", "digit"), *answers])
    print("digits found:", dict(sorted(collections.Counter(digit for _, digit in answers).items())))
    if not arguments.folder:
        right = sum(name == f"{name[:3]}_{digit}.pgm" for name, digit in answers)
        print(f"{right} of {len(answers)} images read right")


if __name__ == "__main__":
    main()
