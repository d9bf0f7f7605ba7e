"""Runs quantized neural networks, with the same bits on every CPU.

    import intaglio
    model = intaglio.load("net.tflite", threads=2)     # or .onnx
    scores = model.run({"image": image})["scores"]      # arrays of NumPy, by name
    scores, = model.run([image])                        # or in order

``help(intaglio.load)`` and ``help(intaglio.Model)`` say more. ``python -m intaglio`` is the command.
"""

from . import errors
from ._core import Layer, Model, Packed, Tensor, gemm, pack
from ._load import Limits, load
from ._profile import LayerTime, Profile
from ._quantize import LayerLoss, OutputAgreement, Quantized, QuantizedLayer, Report, quantize
from ._signature import Signature
from ._tune import Plan, tune
from .errors import *  # noqa: F403
from .errors import Error

__version__ = "0.1.0"

__all__ = [
    "Error",
    "Layer",
    "LayerLoss",
    "LayerTime",
    "Limits",
    "Model",
    "OutputAgreement",
    "Packed",
    "Plan",
    "Profile",
    "Quantized",
    "QuantizedLayer",
    "Report",
    "Signature",
    "Tensor",
    "errors",
    "gemm",
    "load",
    "pack",
    "quantize",
    "tune",
    *errors.__all__,
]
