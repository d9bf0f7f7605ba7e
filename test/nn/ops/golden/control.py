"""Loops and branches, whose bodies are subgraphs. See record.py."""

import numpy as np

from record import Family, Tensor, const, int_of, ints
from subgraphs import Op, write

F = Family("control")


def scalar(dtype="int32"):
    return Tensor(dtype)


def loop(condition, body, inputs, outputs):
    return Op("WHILE", inputs, outputs,
              ("WhileOptions", dict(condSubgraphIndex=condition, bodySubgraphIndex=body)))


def branch(then, other, inputs, outputs):
    return Op("IF", inputs, outputs,
              ("IfOptions", dict(thenSubgraphIndex=then, elseSubgraphIndex=other)))


def add(a, b, to):
    return Op("ADD", [a, b], [to], ("AddOptions", {}))


def mul(a, b, to):
    return Op("MUL", [a, b], [to], ("MulOptions", {}))


def less(a, b, to):
    return Op("LESS", [a, b], [to], ("LessOptions", {}))


def concatenation(parts, to):
    return Op("CONCATENATION", parts, [to], ("ConcatenationOptions", dict(axis=0)))


def reshape(x, shape, to):
    return Op("RESHAPE", [x, ints(*shape)], [to], ("ReshapeOptions", dict(newShape=list(shape))))


def until(end, state, shape=()):
    """The condition that the first of the state, an int32, is below `end`."""
    going = Tensor("bool", shape)
    return state, [going], [less(state[0], const("int32", np.full(shape, end)), going)]


def counted(end, make, outer, feeds, name, error=None, oracle=None):
    """A loop over (i = 0, *outer). make(i, *state) -> (operators, new state)."""
    counters = [int_of(0), scalar(), scalar(), scalar()]  # given, condition's, body's, next
    like = [[Tensor(t.dtype, t.shape, t.scale, t.zero) for t in outer] for _ in range(3)]
    ops, new = make(counters[2], *like[1])
    body = ([counters[2], *like[1]], [counters[3], *new],
            [*ops, add(counters[2], int_of(1), counters[3])])
    main = ([t for t in outer if t.data is None], like[2],
            [loop(1, 2, [counters[0], *outer], [scalar(), *like[2]])])
    F.add(name, write(main, until(end, [counters[1], *like[0]]), body), feeds, error, oracle)


def random_feeds(tensors, runs=2, low=-100, high=100):
    rng = np.random.default_rng(7)
    return [[rng.integers(low, high, t.shape).astype(t.dtype) for t in tensors]
            for _ in range(runs)]


def loops():
    for dtype, shape in (("int32", ()), ("float32", (2, 3)), ("int64", (4,))):
        x = Tensor(dtype, shape)

        def double(i, x):
            y = Tensor(dtype, shape)
            return [add(x, x, y)], [y]

        for end in (0, 1, 5):
            counted(end, double, [x], random_feeds([x]), f"{end} rounds {dtype}{shape}")

    x = Tensor("int8", (1, 6), scale=0.5, zero=3)

    def quantized(i, x):
        y, z = (Tensor("int8", (1, 6), scale=0.5, zero=3) for _ in range(2))
        half = const("int8", np.full((1, 6), 64), scale=1 / 128, zero=0)
        return [mul(x, half, y), add(x, y, z)], [z]

    counted(4, quantized, [x], random_feeds([x]), "int8")

    a, b, c = (Tensor("int32", (3,)) for _ in range(3))

    def fibonacci(i, a, b, c):
        s = Tensor("int32", (3,))
        return [add(a, b, s)], [b, s, a]

    def six_rounds(a, b, c):
        for _ in range(6):
            a, b, c = b, a + b, a
        return [a, b, c]

    # Results that are other parts of the state: TFLite copies one after the other, and so the third
    # takes what the first has become. TensorFlow's loops assign all at once, and so do these.
    counted(6, fibonacci, [a, b, c], random_feeds([a, b, c]), "exchange", oracle=six_rounds)

    def same_twice(i, a, b, c):
        s = Tensor("int32", (3,))
        return [add(a, c, s)], [s, s, c]

    counted(3, same_twice, [a, b, c], random_feeds([a, b, c]), "one result twice")

    def constant(i, a, b, c):
        s = Tensor("int32", (3,))
        return [add(a, b, s)], [s, const("int32", [5, 6, 7]), c]

    counted(3, constant, [a, b, c], random_feeds([a, b, c]), "a constant result")
    # Values handed in that the body gives back: constants, as weights must be.
    weights = const("int8", [[1, -2, 3], [4, 5, -6], [7, 8, 9]], scale=0.25)
    x = Tensor("int8", (1, 3), scale=0.5, zero=-1)

    def product(i, x, w):
        y = Tensor("int8", (1, 3), scale=0.5, zero=-1)
        return [Op("FULLY_CONNECTED", [x, w, None], [y], ("FullyConnectedOptions", {}))], [y, w]

    counted(3, product, [x, weights], random_feeds([x]), "weights from outside")


def lists():
    """What TensorListSetItem becomes: one item of a list replaced."""
    for shape in ((4, 2), (3, 1, 2)):
        items = Tensor("float32", shape)
        rest = len(shape) - 1

        def fill(i, items, step=1, base=None, sliced=None, replaced=None, maker=None):
            n = scalar()
            first, behind = Tensor("int32", (len(shape),)), Tensor("int32", (len(shape),))
            as_item, item = Tensor("float32"), Tensor("float32", (1, *shape[1:]))
            left, right = (Tensor("float32", (1, *shape[1:])) for _ in range(2))
            left.open = right.open = True
            new = Tensor("float32", shape)
            i1, n1 = Tensor("int32", (1,)), Tensor("int32", (1,))
            minus, zeros = ints(*[-1] * rest), ints(*[0] * rest)
            ops = [add(base or i, int_of(step), n),
                   Op("CAST", [i], [as_item]),
                   Op("FILL", [ints(1, *shape[1:]), as_item], [item]),
                   reshape(i, [1], i1), concatenation([i1, minus], first),
                   Op("SLICE", [items, ints(*[0] * len(shape)), first], [left]),
                   reshape(n, [1], n1), concatenation([n1, zeros], behind),
                   Op("SLICE", [items, behind, ints(*[-1] * len(shape))], [right]),
                   concatenation([left, item, right], new)]
            # What is wrong in a damaged file.
            if sliced is not None:
                ops[5].inputs[0] = ops[8].inputs[0] = sliced
            if replaced is not None:
                ops[9].inputs[1] = replaced
            if maker is not None:
                ops[3].inputs[1] = maker
                ops.insert(0, Op("CUSTOM", [], [maker]))
            return ops, [new]

        feeds = random_feeds([items])
        counted(shape[0], fill, [items], feeds, f"all items {shape}")
        counted(shape[0] - 1, fill, [items], feeds, f"all items but one {shape}")
        counted(shape[0] + 1, fill, [items], feeds[:1], f"an item too many {shape}",
                error=f"the index {shape[0]} is not in [0, {shape[0]})")
        counted(1, lambda i, items: fill(i, items, sliced=999), [items], feeds[:1], "no list",
                error="operator #5 SLICE v1: input 0 is tensor #999, which does not exist")
        counted(1, lambda i, items: fill(i, items, replaced=-7), [items], feeds[:1], "no item",
                error="operator #5 SLICE v1: sizes that are not constant are not supported")
        counted(1, lambda i, items: fill(i, items, maker=ints(1)), [items], feeds[:1],
                "a helper without inputs", error="not supported")
        for other in (dict(step=2), dict(base=int_of(3))):
            counted(1, lambda i, items: fill(i, items, **other), [items], feeds[:1],
                    f"not an item {other.keys()}",
                    error="operator #5 SLICE v1: sizes that are not constant are not supported")


def branches():
    for condition_shape in ((), (1,)):
        c, x, y = Tensor("bool", condition_shape), Tensor("int32", (2, 2)), Tensor("int32", (2, 2))

        def one(operator, constant):
            a, b = Tensor("int32", (2, 2)), Tensor("int32", (2, 2))
            return [a], [b], [operator(a, int_of(constant), b)]

        feeds = [[np.full(condition_shape, v), np.arange(4, dtype=np.int32).reshape(2, 2)]
                 for v in (True, False)]
        F.add(f"if {condition_shape}",
              write(([c, x], [y], [branch(1, 2, [c, x], [y])]), one(add, 3), one(mul, 5)), feeds)
    # Weights given to both, as they came, and what one of them makes beforehand.
    c, x, y, z = Tensor("bool"), *(Tensor("float32", (1, 2)) for _ in range(3))
    weights = const("float32", [[1.5, 2], [-3, 0.5]])

    def product(reverse):
        a, b, w = Tensor("float32", (1, 2)), Tensor("float32", (1, 2)), Tensor("float32", (2, 2))
        ops = [Op("FULLY_CONNECTED", [a, w, None], [b], ("FullyConnectedOptions", {}))]
        return [a, w], [a, b] if reverse else [b, const("float32", [[8, 9]])], ops

    feeds = [[np.array(v), np.array([[2, -7]], dtype=np.float32)] for v in (True, False)]
    F.add("weights for branches", write(
        ([c, x], [y, z], [branch(1, 2, [c, x, weights], [y, z])]), product(False), product(True)),
          feeds)


def nested():
    """for i in 0..2: for j in 0..3: x = x + i if j < 1 else x + x."""
    given = [int_of(0), Tensor("int32", (3,))]

    def state(count):
        return [scalar() for _ in range(count)] + [Tensor("int32", (3,))]

    outer = state(1)
    inner_made, outer_next, y = state(2), scalar(), Tensor("int32", (3,))
    outer_body = (outer, [outer_next, inner_made[-1]],
                  [loop(3, 4, [int_of(0), *outer], inner_made), add(outer[0], int_of(1), outer_next)])
    inner, inner_next, small, made = state(2), scalar(), scalar("bool"), Tensor("int32", (3,))
    inner_body = (inner, [inner_next, inner[1], made],
                  [less(inner[0], int_of(1), small), branch(5, 6, [small, *inner[1:]], [made]),
                   add(inner[0], int_of(1), inner_next)])
    plus, plus_made = state(1), Tensor("int32", (3,))
    twice, twice_made = state(1), Tensor("int32", (3,))
    F.add("nested", write(
        ([given[1]], [y], [loop(1, 2, given, [scalar(), y])]), until(2, state(1)), outer_body,
        until(3, state(2)), inner_body, (plus, [plus_made], [add(plus[1], plus[0], plus_made)]),
        (twice, [twice_made], [add(twice[1], twice[1], twice_made)])), random_feeds([given[1]]))


def refusals():
    x, y = Tensor("int32", (3,)), Tensor("int32", (3,))

    def body(operators=(), state=None, results=None):
        i, a, n = scalar(), Tensor("int32", (3,)), scalar()
        return (state or [i, a], results or [n, a], [add(i, int_of(1), n), *operators])

    def condition(dtype="bool", shape=(), end=2):
        i, a, going = scalar(), Tensor("int32", (3,)), Tensor(dtype, shape)
        if dtype != "bool":
            return [i, a], [i], []
        limit = const("int32", np.full(shape, end))
        return [i, a], [going], [less(i, limit, going)]

    def refuse(error, *subgraphs, which=(1, 2), feeds=()):
        main = ([x], [y], [loop(*which, [int_of(0), x], [scalar(), y])])
        F.add(error, write(main, *subgraphs), feeds, error)

    refuse("operator #0 WHILE v1: runs subgraph #7 (there are 3, the first is the model)",
           condition(), body(), which=(1, 7))
    refuse("operator #0 WHILE v1: runs subgraph #0 (there", condition(), body(), which=(0, 2))
    refuse("runs subgraph #-2 (there", condition(), body(), which=(-2, 2))
    refuse("WHILE #0 't3': the condition does not make one bool", condition("int32"), body())
    refuse("the condition does not make one bool", condition("bool", (2,)), body())
    refuse("the condition does not make one bool",
           (lambda c: (c[0], c[1] * 2, c[2]))(condition()), body())
    i, a, n = scalar(), Tensor("int32", (3,)), scalar()
    refuse("subgraph #2: has 1 inputs, but 2 are given", condition(), ([i], [n, i],
                                                                      [add(i, int_of(1), n)]))
    refuse("the body has 1 outputs; 2 expected", condition(), ([i, a], [n],
                                                               [add(i, int_of(1), n)]))
    long = Tensor("int32", (6,))
    refuse("the body: output 1 't3' is int32 [6], not int32 [3]", condition(),
           ([i, a], [n, long], [add(i, int_of(1), n), concatenation([a, a], long)]))
    real = Tensor("float32", (3,))
    refuse("the body: output 1 't3' is float32 [3], not int32 [3]", condition(),
           ([i, a], [n, real], [add(i, int_of(1), n), Op("CAST", [a], [real])]))
    refuse("subgraph #2: input 1 't1' cannot be the int32 't0'", condition(),
           ([i, real], [n, a], [add(i, int_of(1), n)]))
    refuse("subgraph #2: operator #1 SLICE v1: sizes that are not constant are not supported",
           condition(), ([i, a], [n, a], [add(i, int_of(1), n),
                                          Op("SLICE", [a, a, a], [Tensor("int32", (1, 1, 1))])]))
    refuse("subgraph #2: operator #1 NON_MAX_SUPPRESSION_V4 v1: not supported", condition(),
           ([i, a], [n, a], [add(i, int_of(1), n),
                             Op("NON_MAX_SUPPRESSION_V4", [a], [Tensor("int32", (3,))])]))
    variable = Tensor("int32", (3,), variable=True)
    refuse("the body has the variable 't4'; a graph inside a layer cannot", condition(),
           ([i, a], [n, a], [add(i, int_of(1), n), add(a, variable, Tensor("int32", (3,)))]))
    refuse("subgraphs run each other more than 8 deep", condition(),
           ([i, a], [n, a], [loop(1, 2, [i, a], [n, Tensor("int32", (3,))])]))
    refuse("WHILE #0 't3': takes more rounds than a run may", condition(end=2000000), body(),
           feeds=[[np.zeros(3, np.int32)]])

    c, ids = Tensor("bool"), Tensor("int32", (3,))

    def refuse_branch(error, then, other, inputs=None, outputs=None):
        inputs, outputs = inputs or [c, x], outputs or [y]
        F.add(error, write((inputs, outputs, [branch(1, 2, inputs, outputs)]), then, other), (), error)

    same = ([ids], [ids], [])
    refuse_branch("IF #0 't2': the second branch: output 0 't1' is int32 [6], not int32 [3]", same,
                  ([a], [long], [concatenation([a, a], long)]))
    refuse_branch("the branches have 1 and 2 outputs", same, ([a], [a, a], []))
    refuse_branch("has 2 outputs; 1 expected", same, same, outputs=[y, Tensor("int32", (3,))])
    refuse_branch("subgraph #1: has 1 inputs, but 2 are given", same, same, inputs=[c, x, x])
    refuse_branch("input 't0' is int32; bool is supported", same, same, inputs=[scalar(), x])
    refuse_branch("the condition is not one bool", same, same, inputs=[Tensor("bool", (2,)), x])


if __name__ == "__main__":
    loops()
    lists()
    branches()
    nested()
    refusals()
    F.write()
