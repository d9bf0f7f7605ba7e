"""intaglio.dask on workers of this machine, one of which dies."""

import os
import time

import intaglio.dask
import numpy
import pytest
from conftest import MODEL, OPTIONS, digest
from distributed import Client, LocalCluster

ROWS = 60


@pytest.fixture
def client(tmp_path):
    options = {"dashboard_address": None, "local_directory": tmp_path, "host": "127.0.0.1"}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def batches_of(images):
    return [
        {"id": numpy.arange(i, i + ROWS), "image": images[i : i + ROWS]}
        for i in range(0, len(images), ROWS)
    ]


def merged(answers):
    ids = numpy.concatenate([answer["id"] for answer in answers])
    scores = numpy.concatenate([answer["scores"] for answer in answers])
    return ids, scores[numpy.argsort(ids)]


def test_work_of_a_killed_worker_is_done_again(client, images, expected, diary):
    client.register_plugin(intaglio.dask.Predict(MODEL, **OPTIONS))

    note = diary.writer()

    def predict(batch):
        answer = intaglio.dask.predict(batch)
        note()
        time.sleep(0.05)
        return answer

    batches = batches_of(images)
    futures = client.map(predict, batches)
    victim = diary.kill_one(batches=20)
    ids, scores = merged(client.gather(futures))
    assert sorted(ids) == list(range(len(images)))
    assert digest(scores) == digest(expected)
    assert len(diary.pids()) > len(batches)
    print(f"{len(diary.pids())} batches run, {len(batches)} needed")

    # The worker that came instead has the model too.
    client.wait_for_workers(2)
    pids = client.run(os.getpid)
    assert victim not in pids.values()
    for worker in pids:
        answer = client.submit(intaglio.dask.predict, batches[0], workers=[worker], pure=False)
        assert numpy.array_equal(answer.result()["scores"], expected[:ROWS])


def test_two_models(client, images, expected):
    client.register_plugin(intaglio.dask.Predict(MODEL, **OPTIONS))
    client.register_plugin(
        intaglio.dask.Predict(MODEL, name="b", batch=7, kernel="scalar", **OPTIONS)
    )
    batches = batches_of(images[:600])
    for name in ("intaglio", "b"):
        _, scores = merged(client.gather(client.map(intaglio.dask.predict, batches, name=name)))
        assert digest(scores) == digest(expected[:600])


def test_errors_reach_the_caller(client):
    client.register_plugin(intaglio.dask.Predict(MODEL, **OPTIONS))
    wrong = {"id": numpy.arange(2), "image": numpy.zeros((2, 8, 8, 1), numpy.float32)}
    with pytest.raises(intaglio.errors.DtypeError):
        client.submit(intaglio.dask.predict, wrong).result()
    with pytest.raises(Exception, match="damaged|model"):
        client.register_plugin(intaglio.dask.Predict(b"no model", name="c"))
