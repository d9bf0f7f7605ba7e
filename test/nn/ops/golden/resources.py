"""Variables that are resources, and the subgraphs that give them their first values. See record.py."""

import numpy as np

from record import Family, Tensor, const
from subgraphs import Op, write

F = Family("resources")


def handle():
    return Tensor("resource")


def var_handle(to, name="v", container=""):
    return Op("VAR_HANDLE", [], [to], ("VarHandleOptions", dict(sharedName=name,
                                                                container=container)))


def read(of, to):
    return Op("READ_VARIABLE", [of], [to], ("ReadVariableOptions", {}))


def assign(of, value):
    return Op("ASSIGN_VARIABLE", [of, value], [], ("AssignVariableOptions", {}))


def call_once(subgraph):
    return Op("CALL_ONCE", [], [], ("CallOnceOptions", dict(initSubgraphIndex=subgraph)))


def plus(a, b, to):
    return Op("ADD", [a, b], [to], ("AddOptions", {}))


def first_values(*constants, container=""):
    """A subgraph that assigns the constants to the variables v, v1, v2..."""
    ops = []
    for i, value in enumerate(constants):
        h = handle()
        ops += [var_handle(h, f"v{i or ''}", container), assign(h, value)]
    return [], [], ops


def sums(dtype, shape, **quantization):
    """y = v = v + x, run by run."""
    rng = np.random.default_rng(5)
    first = const(dtype, rng.integers(-20, 20, shape), **quantization)
    x, old, new = (Tensor(dtype, shape, **quantization) for _ in range(3))
    h, again, y = handle(), handle(), Tensor(dtype, shape, **quantization)
    ops = [call_once(1), var_handle(h), read(h, old), plus(old, x, new), assign(h, new),
           var_handle(again), read(again, y)]
    feeds = [[rng.integers(-9, 9, shape).astype(dtype)] for _ in range(4)]
    F.add(f"sums {dtype}{shape}", write(([x], [y], ops), first_values(first)), feeds)


def delays():
    """y is x of two runs ago: the variables take each other's elements."""
    shape = (2, 3)
    x, a, b = (Tensor("int32", shape) for _ in range(3))
    one, two = handle(), handle()
    ops = [call_once(1), var_handle(one, "v", "box"), var_handle(two, "v1", "box"), read(one, a),
           read(two, b), assign(two, a), assign(one, x)]
    first = first_values(const("int32", np.full(shape, 7)), const("int32", np.full(shape, 8)),
                         container="box")
    rng = np.random.default_rng(6)
    F.add("delays", write(([x], [b], ops), first),
          [[rng.integers(-99, 99, shape).astype("int32")] for _ in range(4)])


def assigned_first():
    """Without first values: what is read was written in the same run."""
    x, y = Tensor("int16", (4,)), Tensor("int16", (4,))
    h = handle()
    F.add("assigned first", write(([x], [y], [var_handle(h), assign(h, x), read(h, y)])),
          [[np.arange(4, dtype=np.int16)], [np.arange(4, 8, dtype=np.int16)]])


def refusals():
    x, y, h = Tensor("float32", (3,)), Tensor("float32", (3,)), handle()
    zeros = const("float32", np.zeros(3))

    def refuse(error, ops, *more, outputs=(y,)):
        F.add(error, write(([x], list(outputs), ops), *more), error=error)

    refuse("operator #1 READ_VARIABLE v1: nothing has been assigned to the variable 'v'",
           [var_handle(h), read(h, y)])
    refuse("operator #0 READ_VARIABLE v1: tensor #2 is not the handle of a variable", [read(h, y)])
    refuse("operator #0 VAR_HANDLE v1: its options are missing or another operator's",
           [Op("VAR_HANDLE", [], [h]), read(h, y)])
    refuse("operator #0 CALL_ONCE v1: calls subgraph #7 (there are 1, the first is the model)",
           [call_once(7), plus(x, x, y)])
    refuse("calls subgraph #0 (there are 1", [call_once(0), plus(x, x, y)])
    refuse("calls subgraph #-1 (there are 1", [call_once(-1), plus(x, x, y)])
    refuse("subgraph #1: operator #0 is not the assignment of a constant to a variable",
           [call_once(1), plus(x, x, y)], ([], [], [call_once(1)]))
    refuse("subgraph #1: operator #1 is not the assignment of a constant to a variable",
           [call_once(1), plus(x, x, y)], ([], [], [var_handle(h), assign(h, x)]))
    refuse("subgraph #1: the variable 'v' is assigned to before",
           [call_once(1), call_once(1), plus(x, x, y)], first_values(zeros))
    refuse("subgraph #1: the variable 'v' is assigned to before",
           [var_handle(h), assign(h, x), call_once(1), read(h, y)], first_values(zeros))
    refuse("ASSIGN_VARIABLE #2: the variable 'v' has the shape [4], not [3]",
           [call_once(1), var_handle(h), assign(h, x), plus(x, x, y)],
           first_values(const("float32", np.zeros(4))))
    refuse("ASSIGN_VARIABLE #2: tensor 'v' is int32, not float32",
           [call_once(1), var_handle(h), assign(h, x), plus(x, x, y)],
           first_values(const("int32", np.zeros(3))))
    refuse("ADD #0 't1': tensor #2 't2' is a resource", [plus(x, h, y)])
    refuse("the outputs of the model: tensor #1 't1' is a resource",
           [var_handle(h), plus(x, x, y)], outputs=(h, y))


if __name__ == "__main__":
    sums("float32", (2, 3))
    sums("int8", (5,), scale=0.5, zero=3)
    sums("int32", ())
    delays()
    assigned_first()
    refusals()
    F.write()
