"""intaglio.mlserver: answers, malformed requests, batches."""

import asyncio
import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import intaglio
import numpy
import pytest
import tritonclient.grpc
import tritonclient.http
from conftest import DIGITS, MODEL, OPTIONS
from intaglio._rows import RowRunner
from intaglio._together import Together
from server import get, started


@pytest.fixture(scope="module")
def ports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    with started(folder, DIGITS / "digits.tflite", batch=8, **OPTIONS) as (*ports, _):
        yield ports


def body(**changes):
    tensor = {"name": "image", "shape": [1, 8, 8, 1], "datatype": "INT8", "data": [0] * 64}
    return {"inputs": [{**tensor, **changes}]}


def post(port, content, model="digits"):
    """Returns the status and the answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v2/models/{model}/infer",
        content if isinstance(content, bytes) else json.dumps(content).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.mark.parametrize("protocol", [tritonclient.http, tritonclient.grpc])
def test_answers_of_a_usual_client(protocol, ports, images, expected):
    rest = protocol is tritonclient.http
    plain = {"binary_data": False} if rest else {}  # over REST, MLServer reads JSON only
    client = protocol.InferenceServerClient(f"127.0.0.1:{ports[0 if rest else 1]}")
    assert client.is_server_ready() and client.is_model_ready("digits")
    outputs = [protocol.InferRequestedOutput("scores", **plain)]
    equal = 0
    for i in range(100):
        tensor = protocol.InferInput("image", [1, 8, 8, 1], "INT8")
        tensor.set_data_from_numpy(images[i : i + 1], **plain)
        scores = client.infer("digits", [tensor], outputs=outputs).as_numpy("scores")
        equal += scores.dtype == numpy.int8 and numpy.array_equal(scores, expected[i : i + 1])
    assert equal == 100


def test_answers_over_plain_json(ports, images, expected):
    # More rows than a batch, in nested lists, from many clients at once.
    def ask(i):
        part = slice(i, i + 1 + i % 20)
        request = body(shape=images[part].shape, data=images[part].tolist())
        status, answer = post(ports[0], {**request, "id": str(i)})
        (scores,) = answer["outputs"]
        array = numpy.array(scores["data"], numpy.int8).reshape(scores["shape"])
        return status, answer["id"] == str(i), numpy.array_equal(array, expected[part])

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(ask, range(100))) == {(200, True, True)}


MALFORMED = {
    "no JSON": b"{",
    "nothing": b"",
    "deep": b"[" * 100000,
    "no inputs": {},
    "empty inputs": {"inputs": []},
    "an input twice": {"inputs": body()["inputs"] * 2},
    "unknown input": body(name="x"),
    "unknown output": {**body(), "outputs": [{"name": "x"}]},
    "other type": body(datatype="FP32"),
    "no type": body(datatype="INT99"),
    "bytes": body(datatype="BYTES", data=["a"] * 64),
    "too short": body(data=[0] * 63),
    "too large": body(data=[300] * 64),
    "much too large": body(data=[2**70] * 64),
    "fractions": body(data=[0.5] * 64),
    "words": body(data=["a"] * 64),
    "booleans": body(data=[True] * 64),
    "null": body(data=None),
    "nulls": body(data=[None] * 64),
    "ragged": body(data=[[0] * 3, [0] * 4]),
    "other shape": body(shape=[1, 64]),
    "other rank": body(shape=[64]),
    "no shape": body(shape=[], data=[0]),
    "negative": body(shape=[-1, 8, 8, 1]),
    "twice negative": body(shape=[-1, -8, 8, 1]),
    "huge": body(shape=[2**60, 8, 8, 1]),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_get_4xx_and_harm_nobody(name, ports):
    with ThreadPoolExecutor(8) as pool:
        good = [pool.submit(post, ports[0], body()) for _ in range(4)]
        bad = pool.submit(post, ports[0], MALFORMED[name])
        good += [pool.submit(post, ports[0], body()) for _ in range(4)]
    assert 400 <= bad.result()[0] < 500
    assert {answer.result()[0] for answer in good} == {200}


def test_unknown_model(ports):
    assert post(ports[0], body(), "x")[0] == 404


def test_malformed_requests_over_grpc(ports):
    client = tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{ports[1]}")
    tensor = tritonclient.grpc.InferInput("image", [1, 8, 8, 1], "FP32")
    tensor.set_data_from_numpy(numpy.zeros((1, 8, 8, 1), numpy.float32))
    with pytest.raises(tritonclient.grpc.InferenceServerException, match="INVALID_ARGUMENT"):
        client.infer("digits", [tensor])
    assert client.is_model_ready("digits")


def test_health_metadata_and_metrics(ports):
    get(ports[0], "/v2/health/live")
    get(ports[0], "/v2/health/ready")
    model = json.loads(get(ports[0], "/v2/models/digits"))
    assert model["inputs"][0]["shape"] == [-1, 8, 8, 1]
    assert model["outputs"][0]["datatype"] == "INT8"
    post(ports[0], body())
    assert 'model_infer_request_success_total{model="digits"' in get(ports[2], "/metrics")


class Runs(RowRunner):
    """Notes the rows of each run, and waits for a sign."""

    def __init__(self, **options):
        super().__init__(MODEL, **OPTIONS, **options)
        self.rows = []
        self.go = threading.Event()

    def __call__(self, table):
        self.rows.append(len(table["image"]))
        assert self.go.wait(60)
        return super().__call__(table)


def test_what_waits_runs_together(images, expected):
    run = Runs(batch=4)

    async def ask():
        together = Together(run)
        requests = [asyncio.create_task(together({"image": images[i : i + 1]})) for i in range(6)]
        await asyncio.sleep(0.5)  # four of them run, and two wait
        with pytest.raises(intaglio.errors.ShapeError):
            await together({"image": images[:1, :7]})
        requests[2].cancel()
        run.go.set()
        return await asyncio.gather(*requests, return_exceptions=True)

    answers = asyncio.run(ask())
    assert run.rows == [4, 2]
    assert isinstance(answers.pop(2), asyncio.CancelledError)
    scores = numpy.concatenate([answer["scores"] for answer in answers])
    assert numpy.array_equal(scores, expected[[0, 1, 3, 4, 5]])


def test_an_error_of_a_run_is_that_of_one_request(images, expected):
    class Picky(Runs):
        def __call__(self, table):
            if (table["image"] == 99).all(axis=(1, 2, 3)).any():
                raise intaglio.errors.RunError("99")
            return super().__call__(table)

    run = Picky(batch=4)
    run.go.set()

    async def ask():
        together = Together(run)
        tables = [images[:1], numpy.full_like(images[:1], 99), images[1:2]]
        requests = [together({"image": table}) for table in tables]
        return await asyncio.gather(*requests, return_exceptions=True)

    first, second, third = asyncio.run(ask())
    assert isinstance(second, intaglio.errors.RunError)
    assert numpy.array_equal(first["scores"], expected[:1])
    assert numpy.array_equal(third["scores"], expected[1:2])


WITH_BATCHES = """
import asyncio, sys
from mlserver import ModelSettings
from intaglio.mlserver import Runtime
settings = ModelSettings(
    name="digits",
    implementation="intaglio.mlserver.Runtime",
    max_batch_size=8,
    max_batch_time=0.1,
    parameters={"uri": sys.argv[1]},
)
asyncio.run(Runtime(settings).load())
"""


def test_batches_of_mlserver_are_refused():
    # In a process of its own: the client and the server define the same messages.
    command = [sys.executable, "-c", WITH_BATCHES, str(DIGITS / "digits.tflite")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "extra.batch instead of max_batch_size" in done.stderr
