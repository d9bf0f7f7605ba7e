"""A model behind MLServer, which speaks the Open Inference Protocol over REST and gRPC.

A folder with the model and this model-settings.json is served by ``mlserver start FOLDER``:

    {"name": "digits", "implementation": "intaglio.mlserver.Runtime",
     "parameters": {"uri": "./digits.tflite", "extra": {"threads": 2}}}
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

import numpy
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.codecs.numpy import to_datatype, to_dtype
from mlserver.errors import InferenceError, MLServerError
from mlserver.types import InferenceRequest, InferenceResponse, MetadataTensor, RequestInput
from mlserver.utils import get_model_uri

from ._rows import RowRunner
from ._together import Together
from .errors import Error


class Runtime(MLModel):
    """Serves a model whose inputs and outputs have one row for each example.

    parameters.uri: the file.
    parameters.extra: as for ``intaglio.ray.Predict``: columns and outputs (other names for the
        inputs and outputs), batch, and what load() takes. Requests that wait while the model is
        busy run together, up to ``batch`` rows.
    """

    async def load(self) -> bool:
        if self.settings.max_batch_size > 1:
            # MLServer's batches are made before the requests are checked: one that is wrong spoils
            # those of others.
            raise MLServerError("use parameters.extra.batch instead of max_batch_size")
        path = await get_model_uri(self.settings)
        extra = (self.settings.parameters and self.settings.parameters.extra) or {}
        self._run = await asyncio.to_thread(RowRunner, path, **extra)
        self._together = Together(self._run)
        self.inputs = _metadata(self._run.columns, self._run.model.inputs)
        self.outputs = _metadata(self._run.outputs, self._run.model.outputs)
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        table = {tensor.name: _array(tensor) for tensor in payload.inputs}
        if len(table) != len(payload.inputs):
            raise InferenceError("two inputs have the same name")
        wanted = [output.name for output in payload.outputs or ()] or self._run.outputs
        unknown = [name for name in table if name not in self._run.columns]
        unknown += [name for name in wanted if name not in self._run.outputs]
        if unknown:
            raise InferenceError(f"there is no '{unknown[0]}'")
        try:
            answers = await self._together(table)
        except Error as error:
            raise InferenceError(str(error)) from error
        return InferenceResponse(
            model_name=self.name,
            model_version=self.version,
            outputs=[NumpyCodec.encode_output(name, answers[name]) for name in wanted],
        )


def _array(tensor: RequestInput) -> numpy.ndarray:
    """Returns the numbers of a request. Refuses what its type cannot hold, and never rounds."""
    if tensor.datatype == "BYTES":
        raise InferenceError(f"'{tensor.name}': BYTES are not supported")
    dtype = to_dtype(tensor)
    try:
        numbers = numpy.asarray(getattr(tensor.data, "root", tensor.data))
    except ValueError:  # lists of different lengths
        raise InferenceError(f"'{tensor.name}': the data are no array") from None
    if numbers.size != math.prod(tensor.shape) or min(tensor.shape, default=0) < 0:
        message = f"'{tensor.name}': {numbers.size} numbers do not fit the shape {tensor.shape}"
        raise InferenceError(message)
    if numbers.size == 0:
        return numpy.empty(tensor.shape, dtype)
    with numpy.errstate(all="ignore"):
        exact = numbers.dtype.kind in ("b" if dtype.kind == "b" else "iuf") and (
            dtype.kind == "f" or bool((numbers.astype(dtype) == numbers).all())
        )
    if not exact:
        raise InferenceError(f"'{tensor.name}': the data are not all of {tensor.datatype}")
    return numbers.astype(dtype).reshape(tensor.shape)


def _metadata(names: list[str], tensors: Any) -> list[MetadataTensor]:
    return [
        MetadataTensor(name=name, datatype=to_datatype(tensor.dtype), shape=[-1, *tensor.shape[1:]])
        for name, tensor in zip(names, tensors)
    ]
