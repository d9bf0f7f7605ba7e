"""intaglio.ray on loopback: an actor is killed, and a whole machine."""

import os
import threading
import time

# Loopback only: the machines of a real cluster have a common token.
os.environ["RAY_AUTH_MODE"] = "disabled"

import intaglio.ray
import numpy
import pytest
import ray
from conftest import MODEL, OPTIONS, digest
from ray.cluster_utils import Cluster

ROWS = 50


def predict(images, diary, workers, cpus=1):
    """Returns a dataset of answers. Every batch leaves a trace in the diary."""

    note = diary.writer()

    # A class of its own in here is sent as code. Workers cannot import this file.
    class Predict(intaglio.ray.Predict):
        def __call__(self, batch):
            answer = super().__call__(batch)
            note()
            time.sleep(0.2)
            return answer

    rows = [{"id": i, "image": image} for i, image in enumerate(images)]
    return ray.data.from_items(rows, override_num_blocks=len(rows) // ROWS).map_batches(
        Predict,
        fn_constructor_args=(ray.put(MODEL),),
        fn_constructor_kwargs=OPTIONS,
        compute=ray.data.ActorPoolStrategy(size=workers),
        batch_size=ROWS,
        num_cpus=cpus,
    )


def check(answers, expected):
    ids = numpy.array([row["id"] for row in answers])
    scores = numpy.stack([row["scores"] for row in answers])
    assert sorted(ids) == list(range(len(expected)))
    assert digest(scores[numpy.argsort(ids)]) == digest(expected)


def test_a_killed_actor(images, expected, diary):
    ray.init(num_cpus=3, include_dashboard=False)
    try:
        killer = threading.Thread(target=diary.kill_one, args=(10,))
        killer.start()
        answers = predict(images, diary, workers=2).take_all()
        killer.join()
        check(answers, expected)
        assert len(set(diary.pids())) == 3
        print(f"{len(diary.pids())} batches run, {len(images) // ROWS} needed")
    finally:
        ray.shutdown()


def test_a_lost_machine(images, expected, diary):
    # The first one has the driver and the rows.
    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "node_ip_address": "127.0.0.2"}
    )
    others = [
        cluster.add_node(num_cpus=2, node_ip_address=f"127.0.0.{i}", resources={"worker": 1})
        for i in (3, 4)
    ]
    try:
        ray.init(address=cluster.address, _node_ip_address="127.0.0.2")
        cluster.wait_for_nodes()

        def lose():
            diary.wait_for(20)
            cluster.remove_node(others[0], allow_graceful=False)

        loser = threading.Thread(target=lose)
        loser.start()
        answers = predict(images, diary, workers=2, cpus=2).take_all()
        loser.join()
        check(answers, expected)
        alive = [node for node in ray.nodes() if node["Alive"]]
        assert len(alive) == 2
        assert len(diary.pids()) > len(images) // ROWS
        print(f"{len(diary.pids())} batches run, {len(images) // ROWS} needed")
    finally:
        ray.shutdown()
        cluster.shutdown()


def test_errors_reach_the_caller(diary):
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        wrong = numpy.zeros((ROWS, 8, 8, 1), numpy.float32)
        with pytest.raises(Exception, match="float32, and the model of int8"):
            predict(wrong, diary, workers=1).take_all()
    finally:
        ray.shutdown()
