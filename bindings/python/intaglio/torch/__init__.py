"""Training with simulated quantization: what is simulated is what runs.

    qm = intaglio.torch.prepare(module, example_inputs, bits="w4a8")
    ...                                  # train qm like any module
    intaglio.torch.export(qm, "m.tflite")
    qm.verify("m.tflite", inputs)        # 0 LSB apart, in every activation

Needs PyTorch 1.13 or newer. docs/training.md has the rest.
"""

from ._errors import MismatchError, UnsupportedLayerError
from ._module import QuantizedModule, export, prepare

__all__ = ["MismatchError", "QuantizedModule", "UnsupportedLayerError", "export", "prepare"]
