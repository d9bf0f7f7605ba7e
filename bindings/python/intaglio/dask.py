"""A model on the workers of Dask.

    client.register_plugin(intaglio.dask.Predict(open("net.tflite", "rb").read()))
    answers = client.map(intaglio.dask.predict, batches)     # dicts of arrays

Every worker loads the model once, also those that join later. Dask does the work of a lost worker
again, with the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy
from distributed import Worker, WorkerPlugin, get_worker

from ._rows import RowRunner


class Predict(WorkerPlugin):
    """Loads the model on each worker.

    model: the bytes of the file, or a path that all workers have.
    key: the entry of a batch that says which row is which. It goes into the answer.
    name: tells several models of one cluster apart.
    options: as for ``intaglio.ray.Predict``.
    """

    def __init__(
        self, model: Any, *, key: str = "id", name: str = "intaglio", **options: Any
    ) -> None:
        self.name = name
        self._model, self._key, self._options = model, key, options

    def setup(self, worker: Worker) -> None:
        self._run = RowRunner(self._model, **self._options)

    def predict(self, batch: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
        """Returns the batch's key and its outputs."""
        return {self._key: batch[self._key], **self._run(batch)}


def predict(batch: dict[str, numpy.ndarray], name: str = "intaglio") -> dict[str, numpy.ndarray]:
    """A task: runs the model that the plugin ``name`` has loaded on this worker."""
    plugin = get_worker().plugins[name]
    assert isinstance(plugin, Predict)
    return plugin.predict(batch)
