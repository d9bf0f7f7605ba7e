"""Writes a network as an .onnx file, of float32 or quantized in the form that ONNX Runtime asks for:
QuantizeLinear and DequantizeLinear around every operator, uint8 activations, int8 weights with a scale
per channel, NCHW. Its optimizer makes integer kernels of them.

The numbers are those of the .tflite file, with activations moved by 128.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


def _nchw(shape):
    return [shape[0], shape[3], shape[1], shape[2]] if len(shape) == 4 else list(shape)


class Writer:
    def __init__(self, real):
        self.real = real
        self.nodes, self.constants, self.known = [], [], set()

    def constant(self, name, array):
        if name not in self.known:
            self.known.add(name)
            self.constants.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def affine(self, v):
        return [self.constant(v.name + "/scale", np.float32(v.scale)),
                self.constant(v.name + "/zero", np.uint8(v.zero + 128))]

    def read(self, v):
        """The name of the tensor in float32."""
        if v.data is not None:
            real = v.data.astype(np.float32) * v.scale
            if self.real:
                return self.constant(v.name, real)
            self.constant(v.name + "/q", (v.data.astype(np.int16) + 128).astype(np.uint8))
        if self.real:
            return v.name
        name = f"{v.name}/real{len(self.nodes)}"
        return self.node("DequantizeLinear", [v.name + "/q", *self.affine(v)], name)

    def finish(self, name, v, act="none"):
        """name is the layer's result in float32. Quantization to a range from 0 on is a ReLU."""
        if self.real:
            self.node("Relu" if act == "relu" else "Identity", [name], v.name)
        else:
            self.node("QuantizeLinear", [name, *self.affine(v)], v.name + "/q")

    def quantized_weights(self, layer):
        """Weights and bias, each with its scales and zero points."""
        w, name = layer.weights, layer.output.name
        zeros = np.zeros(w.scales.shape, np.int32)
        return ([self.constant(name + "/w", self.in_order(layer, w.data)),
                 self.constant(name + "/wscale", w.scales),
                 self.constant(name + "/wzero", zeros.astype(np.int8))],
                [self.constant(name + "/b", w.bias),
                 self.constant(name + "/bscale", self.bias_scales(layer)),
                 self.constant(name + "/bzero", zeros)])

    @staticmethod
    def bias_scales(layer):
        return (layer.inputs[0].scale * layer.weights.scales).astype(np.float32)

    @staticmethod
    def in_order(layer, data):
        if layer.kind == "dense":
            shape = layer.inputs[0].shape
            return (data.reshape(-1, *shape[1:]).transpose(0, 3, 1, 2).reshape(data.shape)
                    if len(shape) == 4 else data)
        return np.transpose(data, {"conv": (0, 3, 1, 2), "depthwise": (3, 0, 1, 2)}[layer.kind])

    def weights(self, layer):
        w, name = layer.weights, layer.output.name
        if self.real:
            bias = (w.bias * self.bias_scales(layer)).astype(np.float32)
            return [self.constant(name + "/w", self.in_order(layer, w.real())),
                    self.constant(name + "/b", bias)]
        quantized, bias = self.quantized_weights(layer)
        return [self.node("DequantizeLinear", quantized, name + "/wreal", axis=0),
                self.node("DequantizeLinear", bias, name + "/breal", axis=0)]

    def window(self, layer):
        p = layer.parameters
        kernel = layer.weights.data.shape[1:3] if layer.weights else (p["kernel"], p["kernel"])
        pads = [0, 0, 0, 0]
        if p["padding"] == "same":
            for i in (0, 1):
                side, out = layer.inputs[0].shape[1 + i], layer.output.shape[1 + i]
                total = max(0, (out - 1) * p["stride"] + kernel[i] - side)
                pads[i], pads[2 + i] = total // 2, total - total // 2
        return dict(kernel_shape=kernel, strides=[p["stride"]] * 2, pads=pads)

    def layer(self, layer):
        kind, out = layer.kind, layer.output
        name = out.name + "/result"
        inputs = [self.read(v) for v in layer.inputs]
        if kind in ("conv", "depthwise"):
            groups = layer.inputs[0].shape[3] if kind == "depthwise" else 1
            self.node("Conv", inputs + self.weights(layer), name, group=groups,
                      **self.window(layer))
        elif kind == "dense":
            flat = self.node("Flatten", inputs, out.name + "/flat")
            if not self.real:    # as exporters write it: quantized before and after
                v = layer.inputs[0]
                self.node("QuantizeLinear", [flat, *self.affine(v)], flat + "/q")
                flat = self.node("DequantizeLinear", [flat + "/q", *self.affine(v)], flat + "/real")
            self.node("Gemm", [flat] + self.weights(layer), name, transB=1)
        elif kind in ("average_pool", "max_pool"):
            op = {"average_pool": "AveragePool", "max_pool": "MaxPool"}[kind]
            self.node(op, inputs, name, **self.window(layer))
        elif kind == "concat":
            self.node("Concat", inputs, name, axis=1)
        else:
            op = {"add": "Add", "mul": "Mul", "mean": "GlobalAveragePool", "softmax": "Softmax",
                  "hard_swish": "HardSwish"}[kind]
            self.node(op, inputs, name)
        self.finish(name, out, layer.parameters.get("act", "none"))

    def model(self, network):
        first, last = network.input, network.layers[-1].output
        dtype = TensorProto.FLOAT if self.real else TensorProto.UINT8
        suffix = "" if self.real else "/q"
        for layer in network.layers:
            self.layer(layer)
        graph = helper.make_graph(
            self.nodes, network.name,
            [helper.make_tensor_value_info(first.name + suffix, dtype, _nchw(first.shape))],
            [helper.make_tensor_value_info(last.name + suffix, dtype, _nchw(last.shape))],
            self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def write(network, path, real=False):
    onnx.save(Writer(real).model(network), path)
