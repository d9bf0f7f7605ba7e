"""Writes out what the quantized operators of a QOperator file do, as compilers do it before they make code (Jain
et al., 2020, section III): products are sums of int32 with an integer bias; a multiplication in float32, Round, the
addition of a zero point and Clip follow. Inputs of sums and concatenations are first brought to the quantization of
the result.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NUMBERS = {np.dtype("uint8"): TensorProto.UINT8, np.dtype("int8"): TensorProto.INT8}


class Writer:
    """Replaces the nodes of a graph, one after the other."""

    def __init__(self, graph):
        self.graph = graph
        self.values = {c.name: numpy_helper.to_array(c) for c in graph.initializer}
        self.nodes, self.count = [], 0

    def new(self, what):
        self.count += 1
        return f"{what}_{self.count}"

    def constant(self, array):
        name = self.new("constant")
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator, inputs, output=None, **attributes):
        output = output or self.new(operator)
        self.nodes.append(helper.make_node(operator, inputs, [output], name=output + "_node", **attributes))
        return output

    def to_bytes(self, real, zero, output):
        """zero: the zero point, of the output's type."""
        info = np.iinfo(zero.dtype)
        whole = self.node("Round", [real])
        whole = self.node("Add", [whole, self.constant(np.float32(zero))])
        whole = self.node("Clip", [whole, self.constant(np.float32(info.min)),
                                   self.constant(np.float32(info.max))])
        self.node("Cast", [whole], output, to=NUMBERS[zero.dtype])

    def scaled(self, value, factor):
        value = self.node("Cast", [value], to=TensorProto.FLOAT)
        return self.node("Mul", [value, self.constant(np.asarray(factor, np.float32))])

    def offset(self, value, zero):
        value = self.node("Cast", [value], to=TensorProto.INT32)
        return self.node("Sub", [value, self.constant(np.int32(zero))])

    def requantized(self, value, scale, zero, to_scale, to_zero, output):
        real = self.scaled(self.offset(value, zero), scale / to_scale)
        self.to_bytes(real, to_zero, output)


def attributes_of(node, *left_out):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute if a.name not in left_out}


def multiplier(sx, sw, sy):
    return (sx * sw).astype(np.float32) / sy


def write_conv(w, node):
    x, sx, zx, filters, sw, zw, sy, zy = node.input[:8]
    rank = w.values[filters].ndim - 2
    # ONNX Runtime takes one zero point of the filters.
    zero = w.constant(w.values[zw].reshape(-1)[0])
    sums = w.node("ConvInteger", [x, filters, zx, zero], **attributes_of(node))
    if len(node.input) > 8:
        bias = w.values[node.input[8]].reshape(1, -1, *[1] * rank)
        sums = w.node("Add", [sums, w.constant(bias)])
    factor = multiplier(w.values[sx], w.values[sw], w.values[sy])
    if factor.size > 1:
        factor = factor.reshape(1, -1, *[1] * rank)
    w.to_bytes(w.scaled(sums, factor), w.values[zy], node.output[0])


def write_gemm(w, node):
    x, sx, zx, weights, sw, zw, bias, sy, zy = node.input[:9]
    settings = attributes_of(node)
    assert settings.get("alpha", 1) == 1 and not settings.get("transA", 0)
    matrix = w.values[weights]
    if settings.get("transB", 0):
        matrix = np.ascontiguousarray(matrix.T)
    zero = w.constant(w.values[zw].reshape(-1)[0])
    sums = w.node("MatMulInteger", [x, w.constant(matrix), zx, zero])
    if bias:
        sums = w.node("Add", [sums, bias])
    factor = multiplier(w.values[sx], w.values[sw], w.values[sy])
    w.to_bytes(w.scaled(sums, factor), w.values[zy], node.output[0])


def write_add(w, node):
    sy, zy = (w.values[name] for name in node.input[6:8])
    parts = []
    for i in (0, 3):
        value, scale, zero = node.input[i], *(w.values[name] for name in node.input[i + 1:i + 3])
        real = w.scaled(w.offset(value, zero), scale / sy)
        parts.append(w.node("Cast", [w.node("Round", [real])], to=TensorProto.INT32))
    total = w.node("Add", [w.node("Add", parts), w.constant(np.int32(zy))])
    info = np.iinfo(zy.dtype)
    total = w.node("Clip", [total, w.constant(np.int32(info.min)), w.constant(np.int32(info.max))])
    w.node("Cast", [total], node.output[0], to=NUMBERS[zy.dtype])


def write_concat(w, node):
    sy, zy = (w.values[name] for name in node.input[:2])
    parts = []
    for i in range(2, len(node.input), 3):
        value, scale, zero = node.input[i], *(w.values[name] for name in node.input[i + 1:i + 3])
        if scale != sy or zero != zy:
            old, value = value, w.new("requantized")
            w.requantized(old, scale, zero, sy, zy, value)
        parts.append(value)
    w.node("Concat", parts, node.output[0], **attributes_of(node))


def write_pool(w, node):
    sx, zx, sy, zy = (w.values[name] for name in node.input[1:5])
    if node.op_type == "QLinearGlobalAveragePool":
        operator, settings = "GlobalAveragePool", {}
    else:
        operator, settings = "AveragePool", attributes_of(node, "channels_last")
    real = w.node("Cast", [w.offset(node.input[0], zx)], to=TensorProto.FLOAT)
    real = w.node(operator, [real], **settings)
    real = w.node("Mul", [real, w.constant(np.float32(sx / sy))])
    w.to_bytes(real, zy, node.output[0])


WRITERS = {"QLinearConv": write_conv, "QGemm": write_gemm, "QLinearAdd": write_add,
           "QLinearConcat": write_concat, "QLinearAveragePool": write_pool,
           "QLinearGlobalAveragePool": write_pool}


def written_out(model):
    """The model without the operators of WRITERS."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    writer = Writer(result.graph)
    for node in model.graph.node:
        if node.op_type in WRITERS:
            WRITERS[node.op_type](writer, node)
        else:
            writer.nodes.append(node)
    del result.graph.node[:]
    result.graph.node.extend(writer.nodes)
    del result.graph.value_info[:]
    return result
