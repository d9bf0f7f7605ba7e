"""Measures rows a second with one and two workers of this machine, and what a new worker costs.

python bindings/python/fleet/rows_per_second.py ray|dask [--rows 200000]
"""

import argparse
import os
import time
from pathlib import Path

import numpy
from intaglio._rows import RowRunner

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
MODEL = (DIGITS / "digits.tflite").read_bytes()
OPTIONS = {"columns": ["image"], "outputs": ["scores"], "batch": 32}


def report(name, workers, batch, begin, spans):
    """spans: begin, end and rows of each batch."""
    begins, ends, rows = numpy.array(spans).T
    seconds = ends.max() - begins.min()
    inside = (ends - begins).sum() / workers
    print(
        f"{name}, {workers} workers, batches of {batch}: {rows.sum() / seconds:8.0f} rows/s, "
        f"{100 * inside / seconds:3.0f}% of the time in the model; first batch after "
        f"{begins.min() - begin:.2f} s",
        flush=True,
    )


def measure_process(images):
    begin = time.perf_counter()
    run = RowRunner(MODEL, **OPTIONS)
    loaded = time.perf_counter()
    run({"image": images})
    end = time.perf_counter()
    print(
        f"one process: {len(images) / (end - loaded):.0f} rows/s; load {1e3 * (loaded - begin):.1f} ms"
    )


def measure_ray(images, batch, workers):
    import intaglio.ray
    import ray

    class Predict(intaglio.ray.Predict):
        def __call__(self, batch):
            begin = time.time()
            answer = super().__call__(batch)
            rows = len(answer["id"])
            answer["span"] = numpy.tile([begin, time.time(), rows], (rows, 1))
            return answer

    ids = numpy.arange(len(images))
    parts = range(0, len(images), batch)
    blocks = [{"id": ids[i : i + batch], "image": images[i : i + batch]} for i in parts]
    data = ray.data.from_blocks([ray.data.block.BlockAccessor.batch_to_block(b) for b in blocks])
    begin = time.time()
    answers = data.map_batches(
        Predict,
        fn_constructor_args=(ray.put(MODEL),),
        fn_constructor_kwargs=OPTIONS,
        compute=ray.data.ActorPoolStrategy(size=workers),
        batch_size=batch,
    )
    spans = [part["span"][0] for part in answers.iter_batches(batch_size=batch)]
    report("ray", workers, batch, begin, spans)


def measure_dask(images, batch, workers):
    import intaglio.dask
    from distributed import Client, LocalCluster

    def predict(batch):
        begin = time.time()
        answer = intaglio.dask.predict(batch)
        return {**answer, "span": [begin, time.time(), len(answer["id"])]}

    begin = time.time()
    options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
        client.register_plugin(intaglio.dask.Predict(MODEL, **OPTIONS))
        ids = numpy.arange(len(images))
        parts = range(0, len(images), batch)
        batches = [{"id": ids[i : i + batch], "image": images[i : i + batch]} for i in parts]
        answers = client.gather(client.map(predict, batches))
    report("dask", workers, batch, begin, [answer["span"] for answer in answers])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("system", choices=["ray", "dask"])
    parser.add_argument("--rows", type=int, default=200000)
    parser.add_argument("--batches", type=int, nargs="+", default=[500, 2000, 10000])
    arguments = parser.parse_args()
    images = numpy.load(DIGITS / "heldout_images.npy")
    images = numpy.tile(images, (-(-arguments.rows // 500), 1, 1, 1))[: arguments.rows]
    print(f"load average: {os.getloadavg()[0]:.1f}")
    measure_process(images)
    if arguments.system == "ray":
        os.environ["RAY_AUTH_MODE"] = "disabled"
        import ray

        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
    for batch in arguments.batches:
        for workers in (1, 2):
            globals()[f"measure_{arguments.system}"](images, batch, workers)


if __name__ == "__main__":
    main()
