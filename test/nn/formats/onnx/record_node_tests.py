"""Records the node tests of the `onnx` package: models, inputs and expected outputs.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 numpy
    venv/bin/python record_node_tests.py       # writes node_tests.golden beside itself
    venv/bin/python record_node_tests.py build/release/tools/intaglio    # runs those left out

The tests are those whose operators are all in OPERATORS or QUANTIZATION, and whose inputs and
outputs have types that a graph has, or fewer than 8 bits, which lie in bytes then. Three kinds of them are recorded, told apart by their names:

    test_x              as it is
    test_x_expanded...  the operator replaced by the simpler ones that define it. Values inside the
                        model have short names here, and nodes have none.
    NAME@A,B            the test NAME, whose inputs A and B are parameters (PARAMETERS). They get
                        their values when the model is read, as constants that they are in the
                        models that people use.

The bound of a case is relative: outputs of float32 may differ by 1e-7 + bound * |recorded|, which
is what these tests ask for. golden_format.py describes the file.
"""

import collections
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.case.node import collect_testcases

sys.path.insert(0, str(Path(__file__).parents[2] / "ops" / "golden"))
from golden_format import TYPES, write_golden  # noqa: E402

OPERATORS = set("""
    Abs Add And ArgMax ArgMin Attention AveragePool BatchNormalization Cast CastLike Ceil Celu
    Clip Compress Concat Constant ConstantOfShape Conv ConvTranspose Cos CumSum DepthToSpace Div
    Dropout Einsum Elu Equal Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements
    GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool Greater GreaterOrEqual GroupNormalization
    HardSigmoid HardSwish Hardmax Identity If InstanceNormalization IsInf IsNaN LRN LSTM
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax Loop LpNormalization LpPool
    MatMul Max MaxPool Mean MeanVarianceNormalization Min Mish Mod Mul Neg NonZero Not OneHot Or
    PRelu Pad Pow RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum
    ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu
    Reshape Resize RotaryEmbedding Round ScatterElements ScatterND Selu Shape Sigmoid Sign Sin
    Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh
    ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor
    """.split())

QUANTIZATION = {"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "ConvInteger",
                "MatMulInteger", "DynamicQuantizeLinear"}

# Which inputs of an operator are constants in models. Of operators that are not in OPERATORS: for
# their expanded versions.
PARAMETERS = {
    "AffineGrid": [1], "BatchNormalization": [1, 2, 3, 4], "BlackmanWindow": [0],
    "CenterCropPad": [1], "Clip": [1, 2], "Compress": [1], "ConstantOfShape": [0], "Conv": [1, 2],
    "ConvInteger": [1, 2, 3], "ConvTranspose": [1, 2], "CumSum": [1], "DequantizeLinear": [1, 2],
    "Dropout": [1, 2], "Expand": [1], "GRU": [1, 2, 3], "Gemm": [1, 2],
    "GroupNormalization": [1, 2], "HammingWindow": [0], "HannWindow": [0],
    "InstanceNormalization": [1, 2], "LSTM": [1, 2, 3, 7], "LayerNormalization": [1, 2],
    "Loop": [0], "MatMulInteger": [1, 2, 3], "OneHot": [1, 2], "PRelu": [1], "Pad": [1, 2, 3],
    "QLinearConv": [1, 2, 3, 4, 5, 6, 7, 8], "QLinearMatMul": [1, 2, 3, 4, 5, 6, 7],
    "QuantizeLinear": [1, 2], "RMSNormalization": [1], "RNN": [1, 2, 3], "Range": [0, 1, 2],
    "ReduceL1": [1], "ReduceL2": [1], "ReduceLogSum": [1], "ReduceLogSumExp": [1], "ReduceMax": [1],
    "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1], "ReduceSum": [1],
    "ReduceSumSquare": [1], "Reshape": [1], "Resize": [1, 2, 3], "Slice": [1, 2, 3, 4],
    "Split": [1], "Squeeze": [1], "Tile": [1], "TopK": [1], "Trilu": [1], "Unsqueeze": [1],
    "Upsample": [1],
}

# Types of fewer than 8 bits, and those that Intaglio has in their place.
NARROW = {"int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8"}

LARGEST = 100_000  # bytes of a test: the few larger ones would be two thirds of the file


def nodes_of(graph):
    """All nodes, those of nested graphs too."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


def arrays_of(values):
    """The values as arrays; raises TypeError where a value is none of a type that a graph has."""
    arrays = []
    for value in values:
        if isinstance(value, onnx.TensorProto):
            value = onnx.numpy_helper.to_array(value)
        if not isinstance(value, (np.ndarray, np.generic)):
            raise TypeError("sequence or optional")
        value = value.astype(NARROW.get(value.dtype.name, value.dtype))
        if value.dtype.name not in TYPES:
            raise TypeError("string" if value.dtype == object else value.dtype.name)
        arrays.append(np.asarray(value))
    return arrays


def bytes_of(model):
    return model.SerializeToString(deterministic=True)


def with_short_names(model):
    """The model without names of nodes, and with short ones of values inside it."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    names = {"": ""}
    for value in list(result.graph.input) + list(result.graph.output):
        names[value.name] = value.name

    def shorten(name):
        return names.setdefault(name, f"_{len(names)}")

    def visit(graph):
        graph.name = "graph"
        del graph.value_info[:]
        for value in list(graph.input) + list(graph.output) + list(graph.initializer):
            value.name = shorten(value.name)
        for node in graph.node:
            node.ClearField("name")
            node.ClearField("doc_string")
            node.input[:] = [shorten(name) for name in node.input]
            node.output[:] = [shorten(name) for name in node.output]
            for attribute in node.attribute:
                attribute.ClearField("doc_string")
                attribute.ClearField("ref_attr_name")
                if attribute.HasField("g"):
                    visit(attribute.g)

    visit(result.graph)
    return result


def parameter_names(plain):
    """The inputs of the graph that are parameters of its nodes."""
    names = set()
    for node in plain.graph.node:
        for i in PARAMETERS.get(node.op_type, []):
            if i < len(node.input):
                names.add(node.input[i])
    return names


def recorded(test, plain):
    """The cases of a test. plain: the model of the test of which this one is the expansion."""
    model = test.model
    (inputs, outputs), = test.data_sets
    inputs, outputs = arrays_of(inputs), arrays_of(outputs)
    assert test.atol == 1e-7
    size = len(bytes_of(model)) + sum(array.nbytes for array in inputs + outputs)
    if size > LARGEST:
        raise ValueError("too large")
    if plain is not model:
        model = with_short_names(model)
    yield test.name, bytes_of(model), "", test.rtol, [(inputs, outputs)]
    parameters = parameter_names(plain)
    names = [value.name for value in model.graph.input if value.name in parameters]
    if names:
        assert not set("@,:") & set("".join(names))
        name = test.name + "@" + ",".join(names)
        yield name, bytes_of(model), "", test.rtol, [(inputs, outputs)]


def run_too_large(program):
    """Runs the tests that are too large to be recorded, as they are, by a command."""
    for test in collect_testcases(None):
        kinds = {node.op_type for node in nodes_of(test.model.graph)}
        if "_expanded" in test.name or not kinds <= OPERATORS | QUANTIZATION:
            continue
        try:
            list(recorded(test, test.model))
            continue
        except TypeError:
            continue
        except ValueError:
            pass
        (inputs, outputs), = test.data_sets
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(test.model, f"{folder}/model.onnx")
            arguments = []
            for i, (value, array) in enumerate(zip(test.model.graph.input, arrays_of(inputs))):
                np.save(f"{folder}/{i}.npy", array)
                is_parameter = value.name in parameter_names(test.model)
                arguments += (["--constant", f"{value.name}={folder}/{i}.npy"] if is_parameter
                              else ["--input", f"{folder}/{i}.npy"])
            subprocess.run([program, "run", f"{folder}/model.onnx", *arguments, "--output",
                            f"{folder}/out"], check=True, stdout=subprocess.DEVNULL)
            results = [np.load(path) for path in sorted(Path(f"{folder}/out").iterdir())]
        for result, array in zip(results, arrays_of(outputs), strict=True):
            np.testing.assert_allclose(result, array, rtol=test.rtol, atol=test.atol)
        print(test.name, "passes")


def main():
    if len(sys.argv) > 1:
        run_too_large(sys.argv[1])
        return
    warnings.simplefilter("ignore")  # of NumPy, about overflows that tests are about
    tests = collect_testcases(None)
    models = {test.name: test.model for test in tests}
    cases, left_out = [], collections.defaultdict(list)
    for test in tests:
        base, expanded, _ = test.name.partition("_expanded")
        kind = "expanded" if expanded else "plain"
        kinds = {(node.domain, node.op_type) for node in nodes_of(test.model.graph)}
        if not kinds <= {("", name) for name in OPERATORS | QUANTIZATION}:
            left_out[kind, "other operators"].append(test.name)
            continue
        try:
            cases += recorded(test, models[base])
        except (TypeError, ValueError) as error:
            left_out[kind, str(error)].append(test.name)
    for (kind, reason), names in sorted(left_out.items()):
        listed = names if reason == "too large" else []
        print(f"left out, {kind}, {reason}: {len(names)}", *listed)
    count = collections.Counter(
        ("expanded" if "_expanded" in case[0] else "plain") + " with values" * ("@" in case[0])
        for case in cases)
    print(*sorted(count.items()))
    write_golden(Path(__file__).with_name("node_tests.golden"), cases, version=2)


if __name__ == "__main__":
    main()
