"""Single-operator .tflite models, and what TFLite's reference kernels make of them.

    python3 -m venv venv && venv/bin/pip install ai-edge-litert==2.3.0 numpy
    venv/bin/python movement.py            # writes movement.golden beside itself

A family of operators is a script here: it makes a Family, adds cases, and writes NAME.golden, which
golden_test.cc replays without Python or LiteRT. Families do not know of each other.

A case is one model of one operator and its runs. The models are written with FlatBuffers from
plain descriptions (Tensor, options as a dict, or bytes for custom operators); outputs need no shape: the runtime under test finds
it, and the file records what the reference found. Inputs are made by NumPy from the case's name.
Runs of a case follow each other: the state that one leaves is that with which the next starts.
A case with `error` is never run by the reference: loading, preparing or running the model must fail
with a message that holds that text.

The bound of a case allows outputs of float32 to differ by bound * max(1, |recorded|).
golden_format.py describes the files.
"""

import zlib
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

from golden_format import write_golden

TYPES = {
    "float32": schema.TensorType.FLOAT32, "int32": schema.TensorType.INT32,
    "uint8": schema.TensorType.UINT8, "int64": schema.TensorType.INT64,
    "bool": schema.TensorType.BOOL, "int16": schema.TensorType.INT16,
    "int8": schema.TensorType.INT8, "float16": schema.TensorType.FLOAT16,
    "resource": schema.TensorType.RESOURCE,
    "int4": schema.TensorType.INT4, "int2": schema.TensorType.INT2,
}

BITS = {"int4": 4, "int2": 2}  # of the types that NumPy does not have: int8 here, until written


class Tensor:
    """A tensor of a model; with data, a constant. scale may be a list: per axis.

    A variable keeps its elements from run to run."""

    def __init__(self, dtype, shape=(), scale=None, zero=0, data=None, axis=0, variable=False):
        self.dtype, self.shape, self.scale, self.zero, self.axis = dtype, shape, scale, zero, axis
        self.stored = None  # the constant that this tensor is a DEQUANTIZE of
        self.open = False  # a run finds the shape
        self.data, self.variable = None, variable
        if data is not None:
            self.data = np.asarray(data, dtype="int8" if dtype in BITS else dtype)
            self.shape = self.data.shape


def const(dtype, data, **quantization):
    return Tensor(dtype, data=data, **quantization)


def dequantized(dtype, data, **quantization):
    """A constant of float32 that the model stores in another type, before a DEQUANTIZE."""
    stored = const(dtype, data, **quantization)
    tensor = Tensor("float32", stored.shape)
    tensor.stored = stored
    return tensor


def ints(*values):
    """A vector of int32."""
    return const("int32", np.array(values, dtype=np.int32).reshape(-1))


def int_of(value):
    return const("int32", np.int32(value))


def quantization_of(tensor):
    if tensor.scale is None:
        return None
    q = schema.QuantizationParametersT()
    scales = np.atleast_1d(np.asarray(tensor.scale, dtype=np.float32))
    q.scale = scales
    q.zeroPoint = np.broadcast_to(np.asarray(tensor.zero, dtype=np.int64), scales.shape).copy()
    q.quantizedDimension = tensor.axis
    return q


def bytes_of(tensor):
    """The elements of a constant as a buffer holds them."""
    bits = BITS.get(tensor.dtype)
    if bits is None:
        return tensor.data.tobytes()
    number = 0
    for i, value in enumerate(tensor.data.reshape(-1).tolist()):
        assert -(1 << bits - 1) <= value < 1 << bits - 1, value
        number |= (value & (1 << bits) - 1) << i * bits
    return number.to_bytes((tensor.data.size * bits + 7) // 8, "little")


def packed_options(name, fields):
    """The options object of the schema, and its tag."""
    options = getattr(schema, name + "T")()
    for key, value in fields.items():
        assert hasattr(options, key), (name, key)
        setattr(options, key, value)
    return options, getattr(schema.BuiltinOptions, name)


def operator_code(operator, version):
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, operator, schema.BuiltinOperator.CUSTOM)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    code.version = version
    return code


def write_model(operator, inputs, outputs, options=None, version=1, intermediates=()):
    """The bytes of a model of one operator. inputs may hold None: an optional one, absent.

    An operator that the schema does not know is a custom one."""
    model = schema.ModelT()
    model.version = 3
    model.buffers = [schema.BufferT()]
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs = [], []
    op = schema.OperatorT()
    op.inputs, op.outputs = [], []
    graph.operators = []

    def add(tensor, name):
        t = schema.TensorT()
        t.name, t.type, t.shape = name, TYPES[tensor.dtype], list(tensor.shape)
        t.quantization = quantization_of(tensor)
        t.isVariable = tensor.variable
        if tensor.data is not None and tensor.data.size > 0:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(bytes_of(tensor), dtype=np.uint8)
            model.buffers.append(buffer)
            t.buffer = len(model.buffers) - 1
        graph.tensors.append(t)
        return len(graph.tensors) - 1

    for i, tensor in enumerate(inputs):
        if tensor is None:
            op.inputs.append(-1)
            continue
        op.inputs.append(add(tensor, f"x{i}"))
        if tensor.stored is not None:
            dequantize = schema.OperatorT()
            dequantize.opcodeIndex = 1
            dequantize.inputs, dequantize.outputs = [add(tensor.stored, f"s{i}")], [op.inputs[-1]]
            graph.operators.append(dequantize)
        elif tensor.data is None and not tensor.variable:
            graph.inputs.append(op.inputs[-1])
    for i, tensor in enumerate(outputs):
        op.outputs.append(add(tensor, f"y{i}"))
    graph.outputs = list(op.outputs)
    if intermediates:
        op.intermediates = [add(tensor, f"i{i}") for i, tensor in enumerate(intermediates)]
    code = operator_code(operator, version)
    if isinstance(options, bytes):
        op.customOptions = np.frombuffer(options, dtype=np.uint8)
        code.customCode = operator
    elif options is not None:
        op.builtinOptions, op.builtinOptionsType = packed_options(*options)
    model.operatorCodes, model.subgraphs = [code], [graph]
    if graph.operators:
        model.operatorCodes.append(operator_code("DEQUANTIZE", 3))
    graph.operators.append(op)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def random_values(rng, tensor):
    """Elements over the whole range of the type; floats in [-4, 4)."""
    shape = tuple(tensor.shape)
    if tensor.dtype == "float32":
        return (rng.random(shape) * 8 - 4).astype(np.float32)
    if tensor.dtype == "bool":
        return rng.random(shape) < 0.5
    info = np.iinfo(tensor.dtype)
    return rng.integers(info.min, info.max, shape, dtype=tensor.dtype, endpoint=True)


class Family:
    def __init__(self, name):
        self.name, self.cases, self.refused = name, [], []

    def case(self, operator, inputs, outputs, options=None, version=1, runs=1, feeds=None,
             bound=0.0, error=None, note="", resolver="BUILTIN_REF", same_as=None,
             intermediates=(), oracle=None):
        """One model. feeds: a list of runs, each a list of arrays, instead of `runs` random ones.

        resolver is BUILTIN_WITHOUT_DEFAULT_DELEGATES for operators that BUILTIN_REF has not.
        same_as=(inputs, outputs, to, back) records, instead of what the model itself gives, what
        the one of these tensors gives for to(feed), as back(result) of the outputs' type.
        oracle(arrays of a run) gives the outputs of that run, in place of the reference.
        """
        fed = [t for t in inputs
               if t is not None and t.data is None and t.stored is None and not t.variable]
        name = operator + " " + ",".join(
            "-" if t is None else f"{t.dtype}{list(t.shape)}" for t in inputs)
        name = (name + " " + note).strip()
        model = write_model(operator, inputs, outputs, options, version, intermediates)
        rng = np.random.default_rng(zlib.crc32(f"{name} {len(self.cases)}".encode()))
        if feeds is None:  # an error that comes before a run needs no inputs
            runs = 0 if error is not None else runs
            feeds = [[random_values(rng, t) for t in fed] for _ in range(runs)]
        feeds = [[np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=t.dtype), t.shape))
                  .reshape(t.shape) for v, t in zip(feed, fed, strict=True)] for feed in feeds]
        results = [[] for _ in feeds]
        if oracle is not None:
            results = [oracle(*feed) for feed in feeds]
        elif error is None and same_as is None:
            results = self._reference(name, model, feeds, resolver)
        if same_as is not None:
            other_inputs, other_outputs, to, back = same_as
            other = write_model(operator, other_inputs, other_outputs, options, version)
            results = self._reference(name, other, [[to(v) for v in f] for f in feeds], resolver)
            results = [[back(v).astype(t.dtype) for v, t in zip(r, outputs)] for r in results]
        self.cases.append((name, model, error or "", bound, list(zip(feeds, results))))

    def add(self, name, model, feeds=(), error=None, oracle=None):
        """A model that was written elsewhere. oracle: as of case."""
        results = [[] for _ in feeds]
        if oracle is not None:
            results = [oracle(*feed) for feed in feeds]
        elif error is None:
            results = self._reference(name, model, feeds, "BUILTIN_REF")
        self.cases.append((name, model, error or "", 0.0, list(zip(feeds, results))))

    def _reference(self, name, model, feeds, resolver):
        try:
            interpreter = litert.Interpreter(
                model_content=model, num_threads=1,
                experimental_op_resolver_type=getattr(litert.OpResolverType, resolver))
            interpreter.allocate_tensors()
            results = []
            for feed in feeds:
                for detail, value in zip(interpreter.get_input_details(), feed, strict=True):
                    interpreter.set_tensor(detail["index"], value)
                interpreter.invoke()
                results.append([np.array(interpreter.get_tensor(d["index"]))
                                for d in interpreter.get_output_details()])
            return results
        except (RuntimeError, ValueError) as error:
            self.refused.append(f"{name}: the reference refuses this: {error}")
            return [[] for _ in feeds]

    def write(self):
        if self.refused:
            raise SystemExit("\n".join(self.refused))
        write_golden(Path(__file__).with_name(self.name + ".golden"), self.cases)
