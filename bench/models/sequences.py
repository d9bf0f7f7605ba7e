"""Networks over sequences with random weights, as .onnx files: an LSTM, a GRU and a transformer.

They are what PyTorch's exporter makes of nn.LSTM, nn.GRU and nn.TransformerEncoder: batch 1, two layers of
256 units in both directions over 64 steps; four layers of 256 channels, four heads and 1024 channels inside
over 128 steps. Forms: float32; "dynamic" by ONNX Runtime's quantize_dynamic (of the GRU, only its last
product is quantized); and QDQ by its quantize_static (of the transformer alone, whose products it knows).
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_dynamic, quantize_static)

OPSET = 17


class Writer:
    """Nodes and constants of one model, in order."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def node(self, op, inputs, outputs=1, **attributes):
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, f"{op}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array):
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape, scale):
        return self.constant(self.rng.uniform(-scale, scale, shape).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def linear(self, x, inputs, outputs):
        scale = inputs**-.5
        product = self.node("MatMul", [x, self.weights(inputs, outputs, scale=scale)])
        return self.node("Add", [self.weights(outputs, scale=scale), product])

    def save(self, path, shape, result):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "sequence", [x], [y], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def recurrent(op, gates, path, steps=64, inputs=128, units=256, layers=2):
    w = Writer(3)
    x = w.node("Transpose", ["x"], perm=[1, 0, 2])    # batch_first
    scale = units**-.5
    for layer in range(layers):
        depth = inputs if layer == 0 else 2 * units
        more = {"linear_before_reset": 1} if op == "GRU" else {}
        y = w.node(op, [x, w.weights(2, gates * units, depth, scale=scale),
                        w.weights(2, gates * units, units, scale=scale),
                        w.weights(2, 2 * gates * units, scale=scale)],
                   hidden_size=units, direction="bidirectional", **more)
        x = w.node("Reshape", [w.node("Transpose", [y], perm=[0, 2, 1, 3]), w.ints(0, 0, -1)])
    x = w.node("Transpose", [x], perm=[1, 0, 2])
    w.save(path, (1, steps, inputs), w.linear(x, 2 * units, 64))


def norm(w, x, width):
    ones = w.constant(w.rng.uniform(.5, 1.5, width).astype(np.float32))
    return w.node("LayerNormalization", [x, ones, w.weights(width, scale=.1)], axis=-1, epsilon=1e-5)


def gelu(w, x):
    erf = w.node("Erf", [w.node("Div", [x, w.constant(np.float32(2**.5))])])
    more = w.node("Mul", [x, w.node("Add", [erf, w.constant(np.float32(1))])])
    return w.node("Mul", [more, w.constant(np.float32(.5))])


def attention(w, x, steps, width, heads):
    def split(name, perm):
        part = w.node("Reshape", [w.linear(name, width, width), w.ints(1, steps, heads, -1)])
        return w.node("Transpose", [part], perm=perm)
    scores = w.node("MatMul", [split(x, [0, 2, 1, 3]), split(x, [0, 2, 3, 1])])
    scaled = w.node("Div", [scores, w.constant(np.float32((width // heads)**.5))])
    mixed = w.node("MatMul", [w.node("Softmax", [scaled], axis=-1), split(x, [0, 2, 1, 3])])
    joined = w.node("Reshape", [w.node("Transpose", [mixed], perm=[0, 2, 1, 3]),
                                w.ints(1, steps, width)])
    return w.linear(joined, width, width)


def transformer(path, steps=128, width=256, heads=4, inside=1024, layers=4):
    w = Writer(5)
    x = "x"
    for _ in range(layers):
        x = norm(w, w.node("Add", [x, attention(w, x, steps, width, heads)]), width)
        more = w.linear(gelu(w, w.linear(x, width, inside)), inside, width)
        x = norm(w, w.node("Add", [x, more]), width)
    w.save(path, (1, steps, width), w.linear(x, width, 64))


NETWORKS = {"LSTM": lambda path: recurrent("LSTM", 4, path),
            "GRU": lambda path: recurrent("GRU", 3, path), "transformer": transformer}


class Calibration(CalibrationDataReader):
    def __init__(self, path):
        dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
        rng = np.random.default_rng(7)
        shape = [d.dim_value for d in dims]
        self.batches = iter([{"x": rng.normal(0, 1, shape).astype(np.float32)} for _ in range(3)])

    def get_next(self):
        return next(self.batches, None)


def quantized_statically(source, path):
    quantize_static(source, path, Calibration(source), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)


def write(folder, text):
    """Yields the name, the path and the kind of each file whose name contains the text."""
    for name, make in NETWORKS.items():
        forms = ["float32", "dynamic"] + (["QDQ"] if name == "transformer" else [])
        forms = [form for form in forms if text in f"{name} {form}"]
        source = folder / f"{name}.float32.onnx"
        if forms:
            make(source)
        for form in forms:
            path = folder / f"{name}.{form}.onnx"
            if form == "dynamic":
                quantize_dynamic(source, path, weight_type=QuantType.QInt8)
            elif form == "QDQ":
                quantized_statically(source, path)
            yield (f"{name} {form}", path,
                   "float sequences" if form == "float32" else "quantized sequences")
