"""Small networks of float32, as .onnx files that are written byte by byte."""

import numpy


def _number(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number, value):
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | 2) + _number(len(data)) + data


def _info(name, shape):
    dims = b"".join(_field(1, _field(1, extent)) for extent in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, 1) + _field(2, dims)))


def _constant(name, array):
    dims = b"".join(_field(1, extent) for extent in array.shape)
    return dims + _field(2, 1) + _field(8, name) + _field(9, array.astype("<f4").tobytes())


def _node(operator, inputs, output):
    named = b"".join(_field(1, name) for name in inputs)
    return named + _field(2, output) + _field(3, output) + _field(4, operator)


def _model(nodes, constants, inputs, outputs):
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, "net")
    graph += b"".join(_field(5, _constant(name, array)) for name, array in constants.items())
    graph += b"".join(_field(11, _info(name, shape)) for name, shape in inputs.items())
    graph += b"".join(_field(12, _info(name, shape)) for name, shape in outputs.items())
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 17))


def dense(batch=1):
    """y = Relu(x w + b) v for x of [batch, 8] and y of [batch, 5]."""
    random = numpy.random.default_rng(1)
    constants = {
        "w": random.normal(size=(8, 12)),
        "b": random.normal(size=12),
        "v": random.normal(size=(12, 5)),
    }
    nodes = [
        _node("MatMul", ["x", "w"], "xw"),
        _node("Add", ["xw", "b"], "sum"),
        _node("Relu", ["sum"], "hidden"),
        _node("MatMul", ["hidden", "v"], "y"),
    ]
    return _model(nodes, constants, {"x": (batch, 8)}, {"y": (batch, 5)})


def addition():
    """y = a + b for a and b of [1, 4]."""
    shapes = {"a": (1, 4), "b": (1, 4)}
    return _model([_node("Add", ["a", "b"], "y")], {}, shapes, {"y": (1, 4)})
