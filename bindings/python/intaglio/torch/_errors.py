"""What training with simulated quantization raises, beside intaglio.errors."""

from ..errors import Error, UnsupportedError


class UnsupportedLayerError(UnsupportedError):
    """A module has a layer that cannot be quantized here. The message names it."""


class MismatchError(Error, AssertionError):
    """A file computes other numbers than its simulation. The message names the first layer."""
