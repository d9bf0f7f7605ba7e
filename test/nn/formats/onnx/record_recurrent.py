"""Records models of recurrent operators, branches and loops, and what ONNX Runtime makes of them.

    python3 -m venv venv && venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 numpy
    venv/bin/python record_recurrent.py        # writes recurrent.golden beside itself

The bound of a case is relative: outputs may differ by 1e-7 + bound * |recorded|, since the order of
sums is free. golden_format.py describes the file.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper
from quantized_model import F32, I32, MICROSOFT, S8, U8, Model, run, set_types

sys.path.insert(0, str(Path(__file__).parents[2] / "ops" / "golden"))
from golden_format import write_golden  # noqa: E402

BOUND = 1e-3
CASES = []
STEPS, BATCH, INPUTS, UNITS = 5, 3, 4, 6
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def random(model, *shape):
    return model.rng.uniform(-1, 1, shape).astype(F32)


def record(model, outputs, bound=BOUND, results=None):
    """results: where ONNX Runtime refuses the model."""
    proto = model.proto(*outputs)
    if results is None:
        results = [np.asarray(result) for result in run(proto, model.feed)]
    set_types(proto, results)
    data = proto.SerializeToString(deterministic=True)
    assert all(case[0] != model.name for case in CASES), model.name
    CASES.append((model.name, data, "", bound, [(list(model.feed.values()), results)]))


def optional_inputs(model, operator, directions, given):
    """The inputs behind the weights: biases, lengths, first states, peepholes. `given` has a letter
    for each: lower case for a constant, upper case for an input."""
    values = {"b": random(model, directions, 2 * GATES[operator] * UNITS),
              "l": model.rng.integers(0, STEPS, BATCH, endpoint=True).astype(I32),
              "h": random(model, directions, BATCH, UNITS),
              "c": random(model, directions, BATCH, UNITS),
              "p": random(model, directions, 3 * UNITS)}
    names = []
    for letter, value in values.items():
        if letter in given:
            names.append(model.constant(value))
        elif letter.upper() in given:
            names.append(model.input(value))
        else:
            names.append("")
    while names and not names[-1]:
        names.pop()
    return names


def recurrent(operator, note, given="", direction="forward", wants=None, opset=19, **attributes):
    """One node with constant weights. wants: the outputs that the file names."""
    directions = 2 if direction == "bidirectional" else 1
    rows = GATES[operator] * UNITS
    name = "/".join(part for part in (operator, direction, given, note) if part)
    model = Model(name, opset)
    inputs = [model.input(random(model, STEPS, BATCH, INPUTS)),
              model.constant(random(model, directions, rows, INPUTS)),
              model.constant(random(model, directions, rows, UNITS))]
    inputs += optional_inputs(model, operator, directions, given)
    count = 3 if operator == "LSTM" else 2
    results = model.node(operator, inputs, outputs=count, direction=direction, hidden_size=UNITS,
                         **attributes)
    wants = range(count) if wants is None else wants
    for i in range(count):
        if i not in wants:
            model.nodes[-1].output[i] = ""
    record(model, [results[i] for i in wants])


def cells():
    for operator, direction in itertools.product(GATES, ("forward", "reverse", "bidirectional")):
        peepholes = "p" if operator == "LSTM" else ""
        states = "HC" if operator == "LSTM" else "H"
        for given in ("", "b", "bL", "b" + states, "bl" + states.lower() + peepholes):
            recurrent(operator, "", given, direction)
        recurrent(operator, "clip", "b" + peepholes, direction, clip=0.4)
    for direction in ("forward", "bidirectional"):
        recurrent("LSTM", "coupled", "bHCp", direction, input_forget=1)
        recurrent("GRU", "reset_after", "bLH", direction, linear_before_reset=1)
        recurrent("GRU", "reset_after_clip", "bH", direction, linear_before_reset=1, clip=0.3)


def outputs():
    for wants in ([0], [1], [2], [0, 2], [1, 2]):
        recurrent("LSTM", f"outputs{wants}".replace(" ", ""), "bL", wants=wants)
    for operator in ("GRU", "RNN"):
        recurrent(operator, "outputs[1]", "b", wants=[1], opset=7)


def functions():
    numbers = {"Affine": (0.7, 0.2), "LeakyRelu": (0.3, None), "ThresholdedRelu": (0.4, None),
               "ScaledTanh": (0.8, 0.6), "HardSigmoid": (0.3, 0.4), "Elu": (0.6, None)}
    for name in ("Sigmoid", "Tanh", "Relu", "Softsign", "Softplus", *numbers):
        alpha, beta = numbers.get(name, (None, None))
        given = {"activation_alpha": [alpha]} if alpha else {}
        if beta:
            given["activation_beta"] = [beta]
        recurrent("RNN", name, "bH", activations=[name], **given)
        # ONNX Runtime's defaults of these are not those of the operators.
        if alpha and name not in ("Affine", "ScaledTanh", "ThresholdedRelu"):
            recurrent("RNN", name + "_default", "bH", activations=[name])
    # Numbers belong to the functions that take some, in their order.
    recurrent("LSTM", "several", "b", "bidirectional",
              activations=["HardSigmoid", "tanh", "Elu", "SIGMOID", "LeakyRelu", "Affine"],
              activation_alpha=[0.25, 0.5, 0.1, 0.9], activation_beta=[0.4, 0.05])
    recurrent("GRU", "several", "b", "bidirectional",
              activations=["HardSigmoid", "Softsign", "Sigmoid", "ScaledTanh"],
              activation_alpha=[0.25, 0.5], activation_beta=[0.4, 0.7])


def quantized(note, dtype, per_row, given="b", direction="forward", **attributes):
    """Weights of 7 bits, with which ONNX Runtime's sums do not saturate."""
    directions = 2 if direction == "bidirectional" else 1
    rows = 4 * UNITS
    model = Model(f"DynamicQuantizeLSTM/{direction}/{given}/{note}")
    middle = 0 if dtype == S8 else 120

    def weights(columns):
        values = model.rng.integers(-63, 63, (directions, columns, rows), endpoint=True) + middle
        return model.constant(values, dtype)

    def quantization():
        shape = (directions, rows) if per_row else (directions,)
        scales = model.rng.uniform(0.005, 0.02, shape)
        return [model.constant(scales, F32), model.constant(np.full(shape, middle), dtype)]

    inputs = [model.input(random(model, STEPS, BATCH, INPUTS)), weights(INPUTS), weights(UNITS)]
    inputs += optional_inputs(model, "LSTM", directions, given)
    inputs += [""] * (8 - len(inputs)) + quantization() + quantization()
    results = model.node("DynamicQuantizeLSTM", inputs, MICROSOFT, 3, direction=direction,
                         hidden_size=UNITS, **attributes)
    record(model, results, 1e-5)


def dynamic():
    for dtype, per_row in itertools.product((S8, U8), (False, True)):
        if dtype == U8 and per_row:
            continue  # ONNX Runtime has no zero points per row
        note = f"{np.dtype(dtype).name}{'/rows' if per_row else ''}"
        for direction in ("forward", "reverse", "bidirectional"):
            quantized(note, dtype, per_row, "b", direction)
        quantized(note, dtype, per_row, "bHCp", "bidirectional", clip=0.7)


def graph(nodes, outputs, inputs=()):
    """A graph inside of a node. Nodes: (operator, inputs, outputs, attributes)."""
    made = [helper.make_node(operator, names, results, **attributes)
            for operator, names, results, attributes in nodes]
    values = [[helper.make_tensor_value_info(name, kind, *shape or [None])
               for name, kind, *shape in list_] for list_ in (inputs, outputs)]
    return helper.make_graph(made, "inner", *values)


FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def node(operator, inputs, output, **attributes):
    outputs = [output] if isinstance(output, str) else output
    return operator, inputs, outputs, attributes


def branches():
    for condition in (False, True):
        name = f"If/{condition}".lower()
        # Both see x, one sees y, one makes a constant, and one gives back what it sees.
        model = Model(name)
        flag = model.input(np.array(condition))
        x, y = (model.input(random(model, 3, 4)) for _ in range(2))
        one = model.constant(np.full((3, 4), 1, F32))
        then_branch = graph([node("Add", [x, y], "a"), node("Relu", ["a"], "b"),
                             node("Identity", [x], "x")], [("b", FLOAT), ("x", FLOAT)])
        else_branch = graph([node("Sub", [one, x], "c"), node("Identity", [one], "d")],
                            [("c", FLOAT), ("d", FLOAT)])
        record(model, model.node("If", [flag], outputs=2, then_branch=then_branch,
                                 else_branch=else_branch))
        # An image, a branch inside a branch, and a condition that is computed.
        model = Model(name + "/nested")
        image = model.input(random(model, 1, 2, 5, 6))
        filters = model.constant(random(model, 3, 2, 3, 3))
        size = model.input(np.array([1.5 if condition else 0.5], F32))
        flag = model.node("Greater", [size, model.constant(np.array([1], F32))])
        inner = graph([node("Conv", [image, filters], "e"), node("Relu", ["e"], "f")],
                      [("f", FLOAT)])
        other = graph([node("Conv", [image, filters], "g")], [("g", FLOAT)])
        then_branch = graph([node("If", [flag], "h", then_branch=inner, else_branch=other),
                             node("Mul", ["h", size], "i")], [("i", FLOAT)])
        else_branch = graph([node("Conv", [image, filters], "j"), node("Neg", ["j"], "k")],
                            [("k", FLOAT)])
        record(model, [model.node("If", [flag], then_branch=then_branch,
                                  else_branch=else_branch)])
    # The branch that is not chosen does not fit the shape.
    model = Model("If/only")
    flag = model.input(np.array(True))
    x = model.input(random(model, 3, 4))
    weights = [random(model, n, 2) for n in (4, 5)]
    good, bad = (graph([node("MatMul", [x, model.constant(w)], f"m{i}")], [(f"m{i}", FLOAT)])
                 for i, w in enumerate(weights))
    record(model, [model.node("If", [flag], then_branch=good, else_branch=bad)],
           results=[model.feed[x] @ weights[0]])


def loop(name, rounds, condition, body, outputs, carried, known=()):
    """rounds, condition: None where they are absent. known: which of both are constants."""
    model = Model(name)
    first = []
    for kind, value in (("rounds", rounds), ("condition", condition)):
        if value is None:
            first.append("")
        else:
            value = np.array(value, bool if kind == "condition" else np.int64)
            first.append((model.constant if kind in known else model.input)(value))
    inputs = [model.input(value) for value in carried]
    results = model.node("Loop", first + inputs, outputs=outputs, body=body(model))
    record(model, [results] if outputs == 1 else results)


ROUND = [("i", INT64, ()), ("go", BOOL, ())]


def sums(model):
    """x + y + round, with its halves as results."""
    y = model.input(random(model, 2, 3))
    return graph(
        [node("Constant", [], "half", value_float=0.5), node("Cast", ["i"], "f", to=FLOAT),
         node("Add", ["x", y], "s"), node("Add", ["s", "f"], "t"),
         node("Mul", ["t", "half"], "u"), node("Identity", ["go"], "on")],
        [("on", BOOL), ("t", FLOAT), ("u", FLOAT)], [*ROUND, ("x", FLOAT)])


def sums_only(model):
    made = sums(model)
    del made.output[-1]
    return made


def until(model):
    """Doubles x until its first element is above 100, and swaps two other values."""
    return graph(
        [node("Add", ["x", "x"], "t"), node("Constant", [], "top", value_float=100.0),
         node("ReduceMax", ["t"], "m", keepdims=0), node("Less", ["m", "top"], "on"),
         node("Identity", ["a"], "new_b"), node("Identity", ["b"], "new_a")],
        [("on", BOOL), ("t", FLOAT), ("new_a", FLOAT), ("new_b", FLOAT)],
        [*ROUND, ("x", FLOAT), ("a", FLOAT), ("b", FLOAT)])


def growing(model):
    return graph([node("Concat", ["x", "x"], "t", axis=0), node("Identity", ["go"], "on")],
                 [("on", BOOL), ("t", FLOAT)], [*ROUND, ("x", FLOAT)])


def loops():
    start = np.array([[1, 2, 3], [4, 5, 6]], F32)
    for rounds, known in itertools.product((1, 3, 70), (("rounds", "condition"), ("rounds",))):
        loop(f"Loop/collects/{rounds}/{'-'.join(known)}", rounds, True, sums, 2, [start], known)
    for rounds in (0, 1, 5, 100):
        loop(f"Loop/of_run/{rounds}", rounds, True, sums_only, 1, [start])
        loop(f"Loop/of_run/{rounds}/absent", rounds, None, sums_only, 1, [start])
    loop("Loop/of_run/false", 3, False, sums_only, 1, [start])
    pair = [np.array(v, F32) for v in ([1.5], [2.5])]
    loop("Loop/until", None, True, until, 3, [start, *pair])
    loop("Loop/until/known", None, True, until, 3, [start, *pair], ("condition",))
    loop("Loop/until/limit", 2, True, until, 3, [start, *pair], ("rounds", "condition"))
    loop("Loop/until/limit_of_run", 2, None, until, 3, [start, *pair])
    loop("Loop/growing", 3, True, growing, 1, [start], ("rounds", "condition"))


def scans():
    for length, direction, axis in itertools.product((1, 5, 80), (0, 1), (0, 1)):
        model = Model(f"Scan/{length}/{direction}{axis}")
        state = model.input(random(model, 3))
        shape = [3, 3]
        shape[axis] = length
        x = model.input(random(model, *shape))
        weights = model.input(random(model, 3))
        body = graph([node("Mul", ["h", weights], "p"), node("Add", ["p", "x"], "q"),
                      node("Tanh", ["q"], "r"), node("Neg", ["r"], "s")],
                     [("r", FLOAT), ("s", FLOAT)], [("h", FLOAT), ("x", FLOAT)])
        record(model, model.node("Scan", [state, x], outputs=2, body=body, num_scan_inputs=1,
                                 scan_input_axes=[axis], scan_input_directions=[direction],
                                 scan_output_axes=[-1 - axis],
                                 scan_output_directions=[1 - direction]))


def main():
    for family in (cells, outputs, functions, dynamic, branches, loops, scans):
        before = len(CASES)
        family()
        print(f"{family.__name__}: {len(CASES) - before}")
    write_golden(Path(__file__).with_name("recurrent.golden"), CASES, version=2)


if __name__ == "__main__":
    main()
