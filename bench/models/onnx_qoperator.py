"""Writes a network as an .onnx file of operators on quantized tensors, as ONNX Runtime's quantize_static
does in its form QOperator: QLinearConv of the standard, and operators of com.microsoft for what the
standard lacks. The numbers are those of onnx_file.py.
"""

import numpy as np
import onnx
from onnx import helper

import onnx_file

MICROSOFT = "com.microsoft"
UNARY = {"mean": "QLinearGlobalAveragePool", "average_pool": "QLinearAveragePool",
         "softmax": "QLinearSoftmax"}
BINARY = {"add": "QLinearAdd", "mul": "QLinearMul"}


class _Writer(onnx_file.Writer):
    def quantized(self, v):
        """The tensor's name, its scale and its zero point."""
        if v.data is not None:
            self.constant(v.name + "/q", (v.data.astype(np.int16) + 128).astype(np.uint8))
        return [v.name + "/q", *self.affine(v)]

    def layer(self, layer):
        kind, out = layer.kind, layer.output
        inputs = [self.quantized(v) for v in layer.inputs]
        first, result, target = inputs[0], out.name + "/q", self.affine(out)
        window = self.window(layer) if "kernel" in layer.parameters else {}
        if kind in ("conv", "depthwise"):
            weights, bias = self.quantized_weights(layer)
            groups = layer.inputs[0].shape[3] if kind == "depthwise" else 1
            self.node("QLinearConv", [*first, *weights, *target, bias[0]], result, group=groups,
                      **self.window(layer))
        elif kind == "dense":
            weights, bias = self.quantized_weights(layer)
            flat = self.node("Flatten", first[:1], out.name + "/flat")
            self.node("QGemm", [flat, *first[1:], *weights, bias[0], *target], result, transB=1,
                      domain=MICROSOFT)
        elif kind == "max_pool":
            self.node("MaxPool", first[:1], result, **window)
        elif kind == "concat":
            self.node("QLinearConcat", [*target, *sum(inputs, [])], result, axis=1,
                      domain=MICROSOFT)
        elif kind == "hard_swish":
            real = self.node("DequantizeLinear", first, out.name + "/real")
            real = self.node("HardSwish", [real], out.name + "/swish")
            self.node("QuantizeLinear", [real, *target], result)
        elif kind in BINARY:
            self.node(BINARY[kind], [*sum(inputs, []), *target], result, domain=MICROSOFT)
        else:
            more = dict(axis=1, opset=onnx_file.OPSET) if kind == "softmax" else window
            self.node(UNARY[kind], [*first, *target], result, domain=MICROSOFT, **more)


def write(network, path):
    model = _Writer(real=False).model(network)
    model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))
    onnx.save(model, path)
