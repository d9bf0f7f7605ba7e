"""Puts a server on this machine under load, and prints how long its answers took.

    python bindings/python/fleet/load.py [--clients 1 4 16] [--seconds 5] [--batch 1]

The clients run on the same cores as the server, in processes of their own. Every answer is checked.
"""

import argparse
import http.client
import json
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy
from intaglio._rows import RowRunner
from server import started

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"
OPTIONS = {"columns": ["image"], "outputs": ["scores"]}


def ask_rest(port, image):
    """Returns a function that asks for the scores of an image."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    tensor = {
        "name": "image",
        "shape": image.shape,
        "datatype": "INT8",
        "data": image.ravel().tolist(),
    }
    body = json.dumps({"inputs": [tensor]})

    def ask():
        connection.request(
            "POST", "/v2/models/digits/infer", body, {"Content-Type": "application/json"}
        )
        return json.loads(connection.getresponse().read())["outputs"][0]["data"]

    return ask


def ask_grpc(port, image):
    import tritonclient.grpc as protocol

    client = protocol.InferenceServerClient(f"127.0.0.1:{port}")
    tensor = protocol.InferInput("image", image.shape, "INT8")
    tensor.set_data_from_numpy(image)
    return lambda: client.infer("digits", [tensor]).as_numpy("scores").ravel().tolist()


def client(make, port, image, expected, seconds, ready, times):
    ask = make(port, image)
    ask()
    ready.wait()
    taken = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        answer = ask()
        taken.append(time.perf_counter() - begin)
        assert answer == expected
    times.put(taken)


def measure(make, port, clients, seconds):
    context = multiprocessing.get_context("spawn")
    ready, times = context.Barrier(clients), context.Queue()
    images = numpy.load(DIGITS / "heldout_images.npy")
    answers = RowRunner(DIGITS / "digits.tflite", **OPTIONS)({"image": images})["scores"]
    processes = [
        context.Process(
            target=client,
            args=(make, port, images[i : i + 1], answers[i].tolist(), seconds, ready, times),
        )
        for i in range(clients)
    ]
    for process in processes:
        process.start()
    taken = numpy.concatenate([times.get(timeout=seconds + 120) for _ in processes]) * 1000
    for process in processes:
        process.join()
        assert process.exitcode == 0
    p50, p90, p99 = numpy.percentile(taken, [50, 90, 99])
    print(
        f"{make.__name__[4:]:4} {clients:3} clients: {len(taken) / seconds:6.0f} answers/s, "
        f"p50 {p50:6.2f} ms, p90 {p90:6.2f} ms, p99 {p99:6.2f} ms, max {taken.max():6.1f} ms",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--batch", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = DIGITS / "digits.tflite"
        with started(Path(folder), model, batch=arguments.batch, **OPTIONS) as (rest, grpc, *_):
            for make, port in ((ask_rest, rest), (ask_grpc, grpc)):
                for clients in arguments.clients:
                    measure(make, port, clients, arguments.seconds)


if __name__ == "__main__":
    main()
