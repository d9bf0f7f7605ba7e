"""Models of several operators or subgraphs. See record.py."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from record import TYPES, operator_code, packed_options, quantization_of


class Op:
    """Inputs are tensors, None for absent ones, or plain ids, which may be wrong."""

    def __init__(self, code, inputs, outputs, options=None, version=1):
        self.code, self.inputs, self.outputs = code, inputs, outputs
        self.options, self.version = options, version


def write(*subgraphs):
    """The bytes of a model. A subgraph: (inputs, outputs, operators) over Tensor objects."""
    model = schema.ModelT()
    model.version, model.buffers, model.operatorCodes = 3, [schema.BufferT()], []
    model.subgraphs = []
    codes = {}
    for inputs, outputs, ops in subgraphs:
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, places = [], [], {}

        def place(tensor):
            if id(tensor) in places:
                return places[id(tensor)]
            t = schema.TensorT()
            t.name, t.type, t.shape = f"t{len(graph.tensors)}", TYPES[tensor.dtype], tensor.shape
            t.quantization, t.isVariable = quantization_of(tensor), tensor.variable
            if tensor.open:
                t.shapeSignature = [-1] * len(tensor.shape)
            if tensor.data is not None:
                buffer = schema.BufferT()
                buffer.data = np.frombuffer(tensor.data.tobytes(), dtype=np.uint8)
                model.buffers.append(buffer)
                t.buffer = len(model.buffers) - 1
            graph.tensors.append(t)
            places[id(tensor)] = len(graph.tensors) - 1
            return places[id(tensor)]

        graph.inputs, graph.outputs = [place(t) for t in inputs], [place(t) for t in outputs]
        for op in ops:
            o = schema.OperatorT()
            if op.code not in codes:
                codes[op.code] = len(model.operatorCodes)
                model.operatorCodes.append(operator_code(op.code, op.version))
            o.opcodeIndex = codes[op.code]
            o.inputs = [t if isinstance(t, int) else -1 if t is None else place(t)
                        for t in op.inputs]
            if not op.inputs:
                o.inputs = None
            o.outputs = [place(t) for t in op.outputs]
            if op.options is not None:
                o.builtinOptions, o.builtinOptionsType = packed_options(*op.options)
            graph.operators.append(o)
        model.subgraphs.append(graph)
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
