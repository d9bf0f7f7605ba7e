"""Models of one operator, and the cases that they become. See record_quantized.py."""

import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

MICROSOFT = "com.microsoft"
U8, S8, U16, I16, I32, I64, F32 = (
    np.dtype(t) for t in ("uint8", "int8", "uint16", "int16", "int32", "int64", "float32"))
SHORT = {U8: "u8", S8: "s8", U16: "u16", I16: "i16", I32: "i32", F32: "f32"}

# Where a product has its data, its weights and the zero point of the weights.
PRODUCTS = {"QLinearConv": (0, 3, 5), "QLinearMatMul": (0, 3, 5), "QGemm": (0, 3, 5),
            "MatMulInteger": (0, 1, 3), "ConvInteger": (0, 1, 3), "MatMulIntegerToFloat": (0, 1, 5),
            "DynamicQuantizeMatMul": (None, 1, 3)}


def short(*types):
    return "".join(SHORT[np.dtype(t)] for t in types)


class Model:
    """A graph under construction. A value is its name."""

    def __init__(self, name, opset=19):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.constants, self.inputs, self.feed = [], [], [], {}

    def input(self, array):
        """An input, and what is fed to it."""
        array = np.asarray(array, order="C")
        name = f"x{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
        self.feed[name] = array
        return name

    def constant(self, array, dtype=None):
        array = np.asarray(array, dtype=dtype)
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def quantization(self, scale, zero, dtype):
        """The names of a scale and a zero point."""
        return [self.constant(scale, F32), self.constant(zero, dtype)]

    def node(self, operator, inputs, domain="", outputs=1, **attributes):
        names = [f"y{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def dequantized(self, value, scale, zero, dtype, **attributes):
        return self.node("DequantizeLinear", [value, *self.quantization(scale, zero, dtype)],
                         **attributes)

    def quantized(self, value, scale, zero, dtype, **attributes):
        return self.node("QuantizeLinear", [value, *self.quantization(scale, zero, dtype)],
                         **attributes)

    def proto(self, *outputs):
        values = [onnx.ValueInfoProto(name=name) for name in outputs]
        graph = helper.make_graph(self.nodes, "graph", self.inputs, values, self.constants)
        opsets = [helper.make_opsetid("", self.opset)]
        if any(node.domain == MICROSOFT for node in self.nodes):
            opsets.append(helper.make_opsetid(MICROSOFT, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def set_types(proto, arrays):
    """Writes types and shapes of the outputs, once a run has found them."""
    for value, array in zip(proto.graph.output, arrays, strict=True):
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        value.CopyFrom(helper.make_tensor_value_info(value.name, kind, array.shape))


def with_uint8_weights(proto, feed):
    """The same model, where int8 weights that meet uint8 data are uint8."""
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    constants = {c.name: c for c in result.graph.initializer}
    makers = {name: node for node in result.graph.node for name in node.output}

    def is_uint8(name):
        maker = makers.get(name)
        if maker is None:
            return name in feed and feed[name].dtype == U8
        if maker.op_type == "DequantizeLinear":
            return is_uint8(maker.input[0])
        return maker.op_type == "DynamicQuantizeLinear"

    def change(weights, zero):
        for name in (weights, zero):
            array = numpy_helper.to_array(constants[name])
            if array.dtype == S8:
                moved = (array.astype(I32) + 128).astype(U8)
                constants[name].CopyFrom(numpy_helper.from_array(moved, name))

    for node in result.graph.node:
        if node.op_type in PRODUCTS:
            x, w, zero = PRODUCTS[node.op_type]
            if node.input[w] in constants and (x is None or is_uint8(node.input[x])):
                change(node.input[w], node.input[zero])
        elif node.op_type in ("Conv", "Gemm", "MatMul") and is_uint8(node.input[0]):
            maker = makers[node.input[1]]
            if maker.input[0] in constants:
                change(maker.input[0], maker.input[2])
    return result


def run(proto, feed, optimized=True, **settings):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for key, value in settings.items():
        options.add_session_config_entry(f"session.{key}", value)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feed)


CASES = []  # of all scripts


def record(model, *outputs, fused=True, oracle=None):
    """Adds a case. oracle: the first output, as NumPy computed it."""
    proto = model.proto(*outputs)
    if fused:
        results = run(with_uint8_weights(proto, model.feed), model.feed, qdqisint8allowed="1")
    else:
        results = run(proto, model.feed, disable_quant_qdq="1")
        for a, b in zip(results, run(proto, model.feed, optimized=False), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=model.name)
    if oracle is not None:
        np.testing.assert_array_equal(results[0], oracle, err_msg=model.name, strict=True)
    set_types(proto, results)
    onnx.checker.check_model(proto)
    data = proto.SerializeToString(deterministic=True)
    assert all(case[0] != model.name for case in CASES), model.name
    CASES.append((model.name, data, "", 0.0, [(list(model.feed.values()), results)]))


def random_elements(rng, shape, dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def odd_offsets(rng, shape, dtype, zero):
    """Random elements whose distance to the zero point is odd."""
    return random_elements(rng, shape, dtype) & ~np.array(1, dtype) | np.array(~zero & 1, dtype)


def even_offsets(rng, shape, dtype, zero):
    """Random elements whose distance to the zero point is even."""
    zeros = np.broadcast_to(np.asarray(zero) & 1, shape).astype(dtype)
    return random_elements(rng, shape, dtype) & ~np.array(1, dtype) | zeros
