#!/usr/bin/env python3
"""Writes the reference of a model with SVDF of int8 states, which TFLite's kernels refuse as a whole.

    venv/bin/python make_layered_reference.py MODEL.tflite NAME OUTPUT_DIR

Each layer runs by itself: SVDF by ops/golden/svdf_int8.py, every other one on TFLite's reference
kernels. NAME is the model's in the .ref file, whose format make_reference.py describes (it also says
how to get the environment).
"""

import copy
import importlib.metadata
import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

from make_reference import (OPERATOR_NAMES, RANDOM_CASES, TYPE_NAMES, fnv1a64, random_inputs,
                            tensor_line, value_line)
from ops.golden.svdf_int8 import Svdf


def affine(tensor):
    return tensor.quantization.scale[0], int(tensor.quantization.zeroPoint[0])


def svdf_of(model, op):
    tensors = model.subgraphs[0].tensors
    x, feature, time, bias, state = (tensors[i] for i in op.inputs)

    def data(tensor, dtype):
        return model.buffers[tensor.buffer].data.view(dtype).reshape(tensor.shape)

    return Svdf(op.builtinOptions.rank, data(feature, np.int8), affine(feature)[0],
                data(time, np.int8), affine(time)[0], data(bias, np.int32), affine(x),
                affine(state), affine(tensors[op.outputs[0]]))


def alone(model, op):
    """The layer as a model, and a function from its input to its output."""
    single = copy.deepcopy(model)
    graph = single.subgraphs[0]
    graph.operators, graph.inputs, graph.outputs = [op], [op.inputs[0]], [op.outputs[0]]
    builder = flatbuffers.Builder(1 << 16)
    builder.Finish(single.Pack(builder), b"TFL3")
    interpreter = litert.Interpreter(
        model_content=bytes(builder.Output()), num_threads=1,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()

    def run(x):
        interpreter.set_tensor(int(op.inputs[0]), x)
        interpreter.invoke()
        return np.array(interpreter.get_tensor(int(op.outputs[0])))

    return run


def layers_of(model):
    for op in model.subgraphs[0].operators:
        code = model.operatorCodes[op.opcodeIndex]
        name = OPERATOR_NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]
        yield op, svdf_of(model, op) if name == "SVDF" else alone(model, op)


def main():
    path, name, output = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    content = path.read_bytes()
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
    graph = model.subgraphs[0]
    details = [dict(shape=graph.tensors[i].shape,
                    dtype=np.dtype(TYPE_NAMES[graph.tensors[i].type].lower()))
               for i in (graph.inputs[0], graph.outputs[0])]
    version = importlib.metadata.version("ai-edge-litert")
    lines = ["intaglio-reference 1", f"model {name}", f"model-fnv {fnv1a64(content)}",
             f"runtime ai-edge-litert {version} BUILTIN_REF, SVDF by svdf_int8.py",
             tensor_line("input", 0, details[0]), tensor_line("output", 0, details[1])]
    layers = list(layers_of(model))
    for seed in range(RANDOM_CASES):
        (x,) = random_inputs(details[:1], seed)
        values = {int(graph.inputs[0]): x}
        for op, run in layers:
            values[int(op.outputs[0])] = run(values[int(op.inputs[0])])
        lines += [f"case random {seed}", value_line(0, values[int(graph.outputs[0])]),
                  "trace " + " ".join(fnv1a64(values[int(op.outputs[0])].tobytes())
                                      for op, _ in layers)]
    target = output / f"{path.stem}.ref"
    target.write_text("\n".join(lines + ["end"]) + "\n", encoding="ascii", newline="\n")


if __name__ == "__main__":
    main()
