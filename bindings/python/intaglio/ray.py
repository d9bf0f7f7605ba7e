"""A model over the rows of a dataset of Ray Data, on one machine or many.

    import ray, intaglio.ray
    answers = dataset.map_batches(
        intaglio.ray.Predict,
        fn_constructor_args=(ray.put(open("net.tflite", "rb").read()),),
        fn_constructor_kwargs={"columns": ["image"], "outputs": ["scores"]},
        compute=ray.data.ActorPoolStrategy(size=2), batch_size=256,
    )

Ray runs a batch again if its actor or machine dies. Each row is once in the answers, and a row's
answer has the same bits wherever it was computed.
"""

from __future__ import annotations

from typing import Any

import numpy
import ray

from ._rows import RowRunner


class Predict:
    """An actor of ``map_batches``, which loads the model once.

    model: the bytes of the file, or a reference that ``ray.put`` gave for them, so that each
        machine gets them once; or a path that all machines have.
    key: the column that says which row is which. It goes into the answers; others do not.
    options: as for ``intaglio._rows.RowRunner``: columns, outputs, batch, and what load() takes.
    """

    def __init__(self, model: Any, *, key: str = "id", **options: Any) -> None:
        source = ray.get(model) if isinstance(model, ray.ObjectRef) else model
        self._run = RowRunner(source, **options)
        self._key = key

    def __call__(self, batch: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
        return {self._key: batch[self._key], **self._run(batch)}
