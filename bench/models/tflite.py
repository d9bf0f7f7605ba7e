"""Writes a network as a .tflite file: of int8, of float32, or hybrid, which is float32 with int8 weights."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

ACTIVATIONS = {"none": schema.ActivationFunctionType.NONE,
               "relu": schema.ActivationFunctionType.RELU}
PADDINGS = {"same": schema.Padding.SAME, "valid": schema.Padding.VALID}


def _options(name, **fields):
    options = getattr(schema, name + "T")()
    for key, value in fields.items():
        setattr(options, key, value)
    return options, getattr(schema.BuiltinOptions, name)


def _window(p, **more):
    return dict(padding=PADDINGS[p["padding"]], strideW=p["stride"], strideH=p["stride"], **more)


def _operator(layer):
    """The operator's name, its version for int8, and its options."""
    p = layer.parameters
    act = ACTIVATIONS[p.get("act", "none")]
    kind = layer.kind
    if kind == "conv":
        return "CONV_2D", 3, _options("Conv2DOptions", fusedActivationFunction=act,
                                      dilationWFactor=1, dilationHFactor=1, **_window(p))
    if kind == "depthwise":
        return "DEPTHWISE_CONV_2D", 3, _options(
            "DepthwiseConv2DOptions", fusedActivationFunction=act, depthMultiplier=1,
            dilationWFactor=1, dilationHFactor=1, **_window(p))
    if kind in ("average_pool", "max_pool"):
        return kind.upper() + "_2D", 2, _options(
            "Pool2DOptions", filterWidth=p["kernel"], filterHeight=p["kernel"], **_window(p))
    if kind == "dense":
        return "FULLY_CONNECTED", 4, _options("FullyConnectedOptions", fusedActivationFunction=act)
    if kind == "add":
        return "ADD", 2, _options("AddOptions", fusedActivationFunction=act, potScaleInt16=False)
    if kind == "mul":
        return "MUL", 2, _options("MulOptions", fusedActivationFunction=act)
    if kind == "concat":
        return "CONCATENATION", 2, _options("ConcatenationOptions", axis=3)
    if kind == "mean":
        return "MEAN", 2, _options("ReducerOptions", keepDims=True)
    if kind == "softmax":
        return "SOFTMAX", 2, _options("SoftmaxOptions", beta=1.0)
    return {"hard_swish": "HARD_SWISH"}[kind], 1, _options("HardSwishOptions")


# The versions of hybrid operators; those of the others are 1, as of float32.
HYBRID_VERSIONS = {"CONV_2D": 5, "DEPTHWISE_CONV_2D": 6, "FULLY_CONNECTED": 12}


class _Writer:
    def __init__(self, kind):
        self.kind, self.real = kind, kind != "int8"
        self.model, self.graph = schema.ModelT(), schema.SubGraphT()
        self.model.version, self.model.buffers = 3, [schema.BufferT()]
        self.model.operatorCodes, self.model.subgraphs = [], [self.graph]
        self.graph.tensors, self.graph.operators = [], []
        self.places = {}

    def tensor(self, name, dtype, shape, data=None, scales=None, zero=0, axis=0):
        t = schema.TensorT()
        t.name, t.shape = name, list(shape)
        t.type = getattr(schema.TensorType, np.dtype(dtype).name.upper())
        if scales is not None:
            t.quantization = schema.QuantizationParametersT()
            t.quantization.scale = np.atleast_1d(np.asarray(scales, np.float32))
            t.quantization.zeroPoint = np.full(t.quantization.scale.shape, zero, np.int64)
            t.quantization.quantizedDimension = axis
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data, dtype).tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            t.buffer = len(self.model.buffers) - 1
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def value(self, v):
        if v.name not in self.places:
            real = None if v.data is None else v.data.astype(np.float32) * v.scale
            self.places[v.name] = (
                self.tensor(v.name, "float32", v.shape, real) if self.real else
                self.tensor(v.name, "int8", v.shape, v.data, v.scale, v.zero))
        return self.places[v.name]

    def weights(self, layer):
        w, name = layer.weights, layer.output.name
        bias_scales = layer.inputs[0].scale * w.scales
        data = (self.tensor(name + "/w", "float32", w.data.shape, w.real())
                if self.kind == "float32" else
                self.tensor(name + "/w", "int8", w.data.shape, w.data, w.scales, 0, w.axis))
        if self.real:
            return [data, self.tensor(name + "/b", "float32", w.bias.shape, w.bias * bias_scales)]
        return [data, self.tensor(name + "/b", "int32", w.bias.shape, w.bias, bias_scales)]

    def layer(self, layer):
        name, version, (options, tag) = _operator(layer)
        op = schema.OperatorT()
        op.inputs = [self.value(v) for v in layer.inputs]
        if layer.weights is not None:
            op.inputs += self.weights(layer)
        if layer.kind == "mean":
            op.inputs.append(self.tensor(layer.output.name + "/axes", "int32", (2,), [1, 2]))
        op.outputs = [self.value(layer.output)]
        op.builtinOptions, op.builtinOptionsType = options, tag
        if self.real:
            version = HYBRID_VERSIONS.get(name, 1) if self.kind == "hybrid" else 1
            if self.kind == "hybrid" and name == "FULLY_CONNECTED":
                options.asymmetricQuantizeInputs = True
        op.opcodeIndex = self.code(getattr(schema.BuiltinOperator, name), version)
        self.graph.operators.append(op)

    def code(self, builtin, version):
        for i, code in enumerate(self.model.operatorCodes):
            if code.builtinCode == builtin:
                return i
        code = schema.OperatorCodeT()
        code.builtinCode, code.version = builtin, version
        code.deprecatedBuiltinCode = min(builtin, 127)
        self.model.operatorCodes.append(code)
        return len(self.model.operatorCodes) - 1

    def bytes(self, network):
        self.graph.inputs = [self.value(network.input)]
        for layer in network.layers:
            self.layer(layer)
        self.graph.outputs = [self.value(network.layers[-1].output)]
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def write(network, path, kind="int8"):
    path.write_bytes(_Writer(kind).bytes(network))
