#!/usr/bin/env python3
"""Writes the reference outputs that the model tests compare with, bit for bit.

    python3 -m venv venv && venv/bin/pip install ai-edge-litert==2.3.0 numpy
    venv/bin/python make_reference.py MODELS_DIR INPUTS_DIR OUTPUT_DIR [--only SUBSTRING] [--float]

MODELS_DIR is searched for *.tflite; INPUTS_DIR/<model name>/<case>.npy holds the real inputs of a
model with one input. Each model runs on TFLite's reference kernels (BUILTIN_REF, one thread).
A model is covered when it uses only the operators in OPERATORS and its activations are int8 or
uint8 (float32 only on the outer side of QUANTIZE and DEQUANTIZE, integers behind ARG_MAX); OUTPUT_DIR/index.txt lists what
was covered, and why the rest was not. With --float, models
with float activations (pure float, or hybrid: int8 weights) are written too; their outputs
depend on the machine's float arithmetic, so they are to be compared with a tolerance.


THE .ref FORMAT (version 1): ASCII, '\\n' line ends, fields separated by one space

    intaglio-reference 1
    model <path below MODELS_DIR without .tflite>
    model-fnv <fnv of the model file's bytes>
    runtime <package> <version> BUILTIN_REF
    input <index> <dtype> <shape>          one line per model input
    output <index> <dtype> <shape>         one line per model output
    case real <name>                       the input is INPUTS_DIR/<model name>/<name>.npy
    bytes <index> <hex>                    the output's bytes when there are at most 4096
    digest <index> <fnv> <hex>             otherwise: fnv of all its bytes, and the first 64
    trace <fnv> <fnv> ...                  first output of every operator, in the file's order
    case random <seed>                     the inputs are generated, see below
    ...
    end

One bytes or digest line per output follows each case line, in output order, then the trace line.
The trace finds the first operator that differs, and differences that a saturated softmax hides;
a reader that only wants the outputs may ignore it. <index> counts the
model's inputs or outputs from 0. <dtype> is int8, uint8, int16, int32, int64 or float32; <shape> is the
extents separated by commas, or - for a scalar. <hex> is lower case, two digits per byte, in memory
order (little endian, row major). <fnv> is 64-bit FNV-1a as 16 hex digits: h = 0xcbf29ce484222325;
per byte: h = (h ^ byte) * 0x100000001b3.

Random inputs: one splitmix64 generator per case with initial state <seed>; next() is
    state += 0x9e3779b97f4a7c15; z = state
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; z = (z ^ z >> 27) * 0x94d049bb133111eb
    return z ^ z >> 31
(seed 0 starts with e220a8397b1dcdaf). The model's inputs are filled in order, element by element
in row-major order, one next() per element: an 8-bit element is the byte next() >> 56 (its bit
pattern, so 0xff is -1 in an int8 tensor), a 16-bit one next() >> 48; a float32 element is
(next() >> 40) / 2^23 - 1, exactly representable, in [-1, 1).
Cases of a model that keeps a state follow each other.
"""

import argparse
import importlib.metadata
from pathlib import Path

import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema
import flatbuffers  # a dependency of ai-edge-litert

RANDOM_CASES = 20
FLOAT_RANDOM_CASES = 4  # float outputs are four times as large
LARGEST_INLINE = 4096
DIGEST_PREFIX = 64
MASK64 = (1 << 64) - 1

OPERATORS = {
    "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "ADD", "AVERAGE_POOL_2D", "MAX_POOL_2D",
    "PAD", "PADV2", "RESHAPE", "SOFTMAX", "LOGISTIC", "TANH", "RELU", "RELU6", "MEAN",
    "CONCATENATION", "QUANTIZE", "DEQUANTIZE", "ARG_MAX", "RESIZE_BILINEAR", "SPLIT",
}
DATA_INPUT = {"SPLIT": 1}  # elsewhere the activations are input 0
WITH_WEIGHTS = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}
FLOAT_BOUNDARY = {"QUANTIZE", "DEQUANTIZE"}


def splitmix64(seed, count):
    """The first `count` outputs, as uint64."""
    with np.errstate(over="ignore"):
        step = np.uint64(0x9E3779B97F4A7C15)
        z = np.uint64(seed) + step * np.arange(1, count + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def fnv1a64(data):
    h = 0xCBF29CE484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001B3 & MASK64
    return f"{h:016x}"


def names_of(enum):
    return {value: name for name, value in vars(enum).items() if isinstance(value, int)}


OPERATOR_NAMES = names_of(schema.BuiltinOperator)
TYPE_NAMES = names_of(schema.TensorType)


def operators_of(model):
    """(name, input tensor types, output tensor types) of every operator of the main graph."""
    graph = model.subgraphs[0]
    for op in graph.operators:
        code = model.operatorCodes[op.opcodeIndex]
        name = OPERATOR_NAMES[max(code.builtinCode, code.deprecatedBuiltinCode)]
        types = [[TYPE_NAMES[graph.tensors[i].type] if i >= 0 else "NONE" for i in indices]
                 for indices in (op.inputs, op.outputs)]
        yield name, *types


def reason_to_skip(model, with_float):
    """Why the model is not covered, or None."""
    operators = list(operators_of(model))
    foreign = sorted({name for name, _, _ in operators} - OPERATORS)
    if foreign:
        return "operators " + ", ".join(foreign)
    types = {t for name, inputs, outputs in operators
             for t in (inputs[DATA_INPUT.get(name, 0)], *(() if name == "ARG_MAX" else outputs))}
    if types - {"INT8", "UINT8", "FLOAT32"}:
        return "activations " + ", ".join(sorted(types))
    float_operators = [(name, inputs) for name, inputs, outputs in operators
                       if name not in FLOAT_BOUNDARY and "FLOAT32" in (inputs[0], outputs[0])]
    if float_operators and not with_float:
        hybrid = any(name in WITH_WEIGHTS and inputs[1] == "INT8"
                     for name, inputs in float_operators)
        return "hybrid (int8 weights, float activations)" if hybrid else "float"
    return None


def repaired(model):
    """The model's bytes with out-of-range quantized dimensions set to 0, or None if there are none.

    Older converters wrote the weights' dimension into the rank-1 biases, whose quantization the
    kernels never use; newer runtimes refuse such a file.
    """
    changed = False
    for graph in model.subgraphs:
        for tensor in graph.tensors:
            rank = 0 if tensor.shape is None else len(tensor.shape)
            if tensor.quantization and tensor.quantization.quantizedDimension >= max(rank, 1):
                tensor.quantization.quantizedDimension = 0
                changed = True
    if not changed:
        return None
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def random_inputs(details, seed):
    stream = splitmix64(seed, sum(int(np.prod(d["shape"])) for d in details))
    for detail in details:
        values, stream = np.split(stream, [int(np.prod(detail["shape"]))])
        if detail["dtype"] == np.float32:
            flat = ((values >> np.uint64(40)).astype(np.float64) / 2**23 - 1).astype(np.float32)
        else:
            bits = 8 * np.dtype(detail["dtype"]).itemsize
            flat = (values >> np.uint64(64 - bits)).astype(f"uint{bits}").view(detail["dtype"])
        yield flat.reshape(detail["shape"])


def tensor_line(kind, index, detail):
    shape = ",".join(str(n) for n in detail["shape"]) or "-"
    return f"{kind} {index} {np.dtype(detail['dtype']).name} {shape}"


def value_line(index, value):
    data = np.ascontiguousarray(value).tobytes()
    if len(data) <= LARGEST_INLINE:
        return f"bytes {index} {data.hex()}"
    return f"digest {index} {fnv1a64(data)} {data[:DIGEST_PREFIX].hex()}"


def reference(name, content, model, inputs_dir):
    """The lines of one .ref file, and its number of cases."""
    interpreter = litert.Interpreter(
        model_content=repaired(model) or content, num_threads=1,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()

    operator_outputs = [op.outputs[0] for op in model.subgraphs[0].operators]

    version = importlib.metadata.version("ai-edge-litert")
    lines = ["intaglio-reference 1", f"model {name}", f"model-fnv {fnv1a64(content)}",
             f"runtime ai-edge-litert {version} BUILTIN_REF"]
    lines += [tensor_line("input", i, d) for i, d in enumerate(inputs)]
    lines += [tensor_line("output", i, d) for i, d in enumerate(outputs)]

    cases = []
    for path in sorted((inputs_dir / Path(name).name).glob("*.npy")):
        cases.append((f"case real {path.stem}", [np.load(path)]))
    is_float = any(d["dtype"] == np.float32 for d in outputs)
    for seed in range(FLOAT_RANDOM_CASES if is_float else RANDOM_CASES):
        cases.append((f"case random {seed}", list(random_inputs(inputs, seed))))

    for title, values in cases:
        for detail, value in zip(inputs, values, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        lines.append(title)
        lines += [value_line(i, interpreter.get_tensor(d["index"])) for i, d in enumerate(outputs)]
        trace = [fnv1a64(interpreter.get_tensor(t).tobytes()) for t in operator_outputs]
        lines.append("trace " + " ".join(trace))
    return lines + ["end"], len(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", default="", help="write only models whose path contains this")
    parser.add_argument("--float", action="store_true", help="also write float and hybrid models")
    args = parser.parse_args()

    assert int(splitmix64(0, 1)[0]) == 0xE220A8397B1DCDAF
    covered, skipped = [], {}
    for path in sorted(args.models.rglob("*.tflite")):
        name = path.relative_to(args.models).with_suffix("").as_posix()
        if args.only not in name:
            continue
        content = path.read_bytes()
        model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
        reason = reason_to_skip(model, args.float)
        if reason:
            skipped.setdefault(reason, []).append(name)
            print(f"skipped {name}: {reason}")
        else:
            lines, cases = reference(name, content, model, args.inputs)
            target = args.output / f"{path.stem}.ref"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")
            covered.append(f"{name}: {cases} cases")
            print(f"covered {covered[-1]}", flush=True)
    if not args.only:
        index = ["covered"] + [f"    {line}" for line in covered]
        for reason, names in sorted(skipped.items()):
            index += [f"skipped: {reason}"] + [f"    {name}" for name in names]
        (args.output / "index.txt").write_text("\n".join(index) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
