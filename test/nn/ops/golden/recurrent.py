"""Operators that keep a state. See record.py."""

import numpy as np

from record import Family, Tensor, const
from svdf_int8 import Svdf

F = Family("recurrent")
FLOAT = 2e-5  # float32 sums in another order, and exp and tanh, fed back for some steps
GATES = "ifco"  # input, forget, cell, output


class Lstm:
    """The tensors of a full LSTM, whose numbers depend only on its parameters."""

    def __init__(self, kind, inputs=5, cells=8, outputs=None, coupled=False, peephole=False,
                 norm=False, projection_bias=True, seed=7):
        self.kind, self.inputs, self.cells = kind, inputs, cells
        self.outputs = outputs or cells
        self.projection = outputs is not None
        self.coupled, self.peephole, self.norm = coupled, peephole, norm
        self.projection_bias = projection_bias
        self.rng = np.random.default_rng(seed)

    def matrix(self, rows, columns, scale):
        if self.kind == "float32":
            return const("float32", self.rng.uniform(-0.6, 0.6, (rows, columns)))
        return const("int8", self.rng.integers(-127, 128, (rows, columns)), scale=scale)

    def vector(self, integer, low, high, scale, count=None):
        count = count or self.cells
        if self.kind != "int8":
            return const("float32", self.rng.uniform(-0.7, 0.7, count))
        return const(integer, self.rng.integers(low, high, count), scale=scale)

    def diagonal(self, scale):
        if self.kind == "hybrid":
            return const("int8", self.rng.integers(-127, 128, self.cells), scale=scale)
        return self.vector("int16", -20000, 20000, scale)

    def tensors(self, batch, cell_exponent=-11, h_zero=3):
        gates = [g for g in GATES if not (g == "i" and self.coupled)]
        of = {g: i for i, g in enumerate(GATES)}
        t = [None] * 24
        for g in gates:
            t[1 + of[g]] = self.matrix(self.cells, self.inputs, 0.008 + 0.001 * of[g])
            t[5 + of[g]] = self.matrix(self.cells, self.outputs, 0.006 + 0.001 * of[g])
            t[12 + of[g]] = self.vector("int32", -9000, 9000, 0.00012)
            if self.peephole and g != "c":
                t[9 + "ifo".index(g)] = self.diagonal(0.00004 if self.kind == "int8" else 0.004)
            if self.norm:
                t[20 + of[g]] = self.vector("int16", -32000, 32000, 0.00005)
        if self.projection:
            t[16] = self.matrix(self.outputs, self.cells, 0.009)
            if self.projection_bias:
                t[17] = self.vector("int32", -3000, 3000, 0.0001, self.outputs)
        if self.kind == "int8":
            t[18] = Tensor("int8", (batch, self.outputs), scale=0.0073, zero=h_zero, variable=True)
            t[19] = Tensor("int16", (batch, self.cells), scale=2.0**cell_exponent, variable=True)
        else:
            t[18] = Tensor("float32", (batch, self.outputs), variable=True)
            t[19] = Tensor("float32", (batch, self.cells), variable=True)
        return t

    def intermediates(self, zero=-4):
        if self.kind != "int8":
            return []
        gates = [Tensor("int16", (), scale=0.0005 + 0.0001 * i if self.norm else None)
                 for i in range(4)]
        return gates + [Tensor("int8", (), scale=0.0081 if self.projection else 0.0073, zero=zero)]


def lstm(cell, batch=2, steps=4, time_major=False, sequence=True, runs=3, error=None, note="",
         change=None, feeds=None, **more):
    rnn = dict(cell_exponent=more.pop("cell_exponent", -11))
    x_shape = (batch, cell.inputs)
    if sequence:
        x_shape = ((steps, batch) if time_major else (batch, steps)) + (cell.inputs,)
    tensors = cell.tensors(batch, **rnn)
    if cell.kind == "int8":
        tensors[0] = Tensor("int8", x_shape, scale=0.021, zero=-11)
        output = Tensor("int8", scale=0.0073, zero=3)
    else:
        tensors[0] = Tensor("float32", x_shape)
        output = Tensor("float32")
    options = dict(fusedActivationFunction=4, cellClip=0.0, projClip=0.0)
    options.update(more)
    if sequence:
        options["timeMajor"] = time_major
    if change:
        change(tensors)
    F.case("UNIDIRECTIONAL_SEQUENCE_LSTM" if sequence else "LSTM", tensors, [output],
           ("UnidirectionalSequenceLSTMOptions" if sequence else "LSTMOptions", options),
           3 if sequence else 4, runs=runs, feeds=feeds, error=error,
           bound=0.0 if cell.kind == "int8" else FLOAT,
           note=f"{cell.kind} {cell.coupled} {cell.peephole} {cell.norm} {more} {note}",
           intermediates=cell.intermediates())


FORMS = (dict(), dict(coupled=True), dict(peephole=True), dict(norm=True),
         dict(outputs=6), dict(outputs=6, coupled=True, peephole=True, norm=True),
         dict(outputs=6, projection_bias=False, norm=True), dict(peephole=True, outputs=6),
         dict(inputs=1, cells=1), dict(inputs=70, cells=33))


def lstms():
    for kind in ("int8", "float32", "hybrid"):
        for form in FORMS:
            for time_major in (False, True):
                lstm(Lstm(kind, **form), time_major=time_major)
        lstm(Lstm(kind), cellClip=0.5)
        lstm(Lstm(kind, outputs=6), projClip=0.2)
        lstm(Lstm(kind), batch=1, steps=1)
        lstm(Lstm(kind), sequence=False)
        lstm(Lstm(kind, outputs=6, peephole=True, norm=True), sequence=False)
    for exponent in (-15, -13, -9):
        lstm(Lstm("int8"), cell_exponent=exponent, runs=6)
    for asymmetric in (True,):
        for form in FORMS[:6]:
            lstm(Lstm("hybrid", **form), asymmetricQuantizeInputs=asymmetric)
    zeros = np.zeros((2, 4, 5))
    lstm(Lstm("hybrid"), feeds=[[zeros], [zeros + 1]], note="zeros")
    lstm(Lstm("float32"), fusedActivationFunction=1)

    def drop(i):
        def change(tensors):
            tensors[i] = None
        return change

    def replace(i, tensor):
        def change(tensors):
            tensors[i] = tensor
        return change

    lstm(Lstm("int8"), change=drop(3), error="input 3 is absent")
    lstm(Lstm("int8"), change=drop(1), error="has input 5 'x5', but not those that belong to it")
    lstm(Lstm("int8", peephole=True), change=drop(10), error="input 10 is absent")
    lstm(Lstm("int8"), change=drop(18), error="input 18 is absent")
    lstm(Lstm("float32"), change=replace(18, Tensor("float32", (2, 8))),
         error="the state 'x18' is not a variable")
    lstm(Lstm("float32"), change=replace(19, Tensor("float32", (2, 7), variable=True)),
         error="the state 'x19' has the shape [2, 7]; 16 elements are needed")
    lstm(Lstm("float32"), change=replace(6, const("float32", np.zeros((8, 7)))),
         error="input 6 'x6' has the shape [8, 7], not [8, 8]")
    lstm(Lstm("float32"), change=replace(2, Tensor("float32", (8, 5))),
         error="input 2 'x2' is not constant")
    lstm(Lstm("float32"), change=replace(8, const("float32", np.zeros(8))),
         error="recurrent weights that are diagonal")
    lstm(Lstm("int8"), change=replace(3, const("int8", np.zeros((8, 5)), scale=0.1, zero=1)),
         error="weights 'x3' have the zero point 1")
    lstm(Lstm("int8"), change=replace(13, const("float32", np.zeros(8))),
         error="tensor 'x13' is float32, not int32")
    lstm(Lstm("int8"), cell_exponent=-8.5, error="2^-15 to 2^-9 and 0 are supported")
    lstm(Lstm("int8"), cell_exponent=-8, error="2^-15 to 2^-9 and 0 are supported")
    lstm(Lstm("float32"), cellClip=-1.0, error="has the clipping bound -1")
    lstm(Lstm("float32"), cellClip=float("nan"), error="has the clipping bound nan")
    lstm(Lstm("float32"), fusedActivationFunction=5, error="activation number 5")
    lstm(Lstm("hybrid"), change=replace(7, const("float32", np.zeros((8, 8)))),
         error="tensor 'x7' is float32, not int8")
    lstm(Lstm("float32"), change=lambda t: t.pop(), error="has 23 inputs; 20 or 24 are expected")


def basics():
    rng = np.random.default_rng(3)
    for dtype in ("float32", "uint8"):
        for batch, inputs, cells in ((1, 4, 4), (3, 7, 5)):
            for variable in (True, False):
                if dtype == "uint8":
                    unit = dict(scale=1 / 128, zero=128)
                    fixed = dict(scale=2.0**-11)
                    weights = const("uint8", rng.integers(0, 256, (4 * cells, inputs + cells)),
                                    scale=0.01, zero=117)
                    biases = const("int32", rng.integers(-9000, 9000, 4 * cells),
                                   scale=0.01 / 128)
                    state, sums = "int16", "int16"
                else:
                    unit, fixed, state, sums = {}, {}, "float32", "float32"
                    weights = const("float32", rng.uniform(-1, 1, (4 * cells, inputs + cells)))
                    biases = const("float32", rng.uniform(-1, 1, 4 * cells))
                F.case("LSTM", [Tensor(dtype, (batch, inputs), **unit),
                                Tensor(dtype, (batch, cells), variable=variable, **unit),
                                weights, biases,
                                Tensor(state, (batch, cells), variable=variable, **fixed)],
                       [Tensor(dtype, **unit), Tensor(state, **fixed), Tensor(dtype, **unit),
                        Tensor(sums, scale=2.0**-12 if dtype == "uint8" else None)],
                       ("LSTMOptions", dict(fusedActivationFunction=4, kernelType=1)), 2, runs=3,
                       bound=0.0 if dtype == "uint8" else FLOAT, note=f"basic {variable}")


def weights_of(kind, rng, rows, columns):
    if kind == "float32":
        return const("float32", rng.uniform(-0.8, 0.8, (rows, columns)))
    return const("int8", rng.integers(-127, 128, (rows, columns)), scale=0.007)


def rnns():
    rng = np.random.default_rng(9)
    for kind in ("float32", "hybrid"):
        for sequence in (None, False, True):
            for activation in (4, 1) if kind == "float32" else (4,):
                for asymmetric in (False, True) if kind == "hybrid" else (False,):
                    x = {None: (3, 6), False: (3, 4, 6), True: (4, 3, 6)}[sequence]
                    options = dict(fusedActivationFunction=activation,
                                   asymmetricQuantizeInputs=asymmetric)
                    if sequence is not None:
                        options["timeMajor"] = sequence
                    F.case("RNN" if sequence is None else "UNIDIRECTIONAL_SEQUENCE_RNN",
                           [Tensor("float32", x), weights_of(kind, rng, 5, 6),
                            weights_of(kind, rng, 5, 5), const("float32", rng.uniform(-1, 1, 5)),
                            Tensor("float32", (3, 5), variable=True)], [Tensor("float32")],
                           ("RNNOptions" if sequence is None else "SequenceRNNOptions", options),
                           3, runs=3, bound=FLOAT, note=f"{kind} {activation} {asymmetric}")
    F.case("RNN", [Tensor("float32", (3, 6)), weights_of("float32", rng, 5, 6),
                   weights_of("float32", rng, 5, 4), const("float32", np.zeros(5)),
                   Tensor("float32", (3, 5), variable=True)], [Tensor("float32")],
           ("RNNOptions", dict(fusedActivationFunction=4)),
           error="input 2 'x2' has the shape [5, 4], not [5, 5]")


def svdfs():
    rng = np.random.default_rng(11)

    def case(kind, batch, inputs, units, rank, memory, activation=1, bias=True, error=None,
             asymmetric=False, state=None):
        filters = units * rank
        if kind == "int8":
            tensors = [Tensor("int8", (batch, inputs), scale=0.03, zero=-7),
                       const("int8", rng.integers(-127, 128, (filters, inputs)), scale=0.009),
                       const("int16", rng.integers(-3000, 3000, (filters, memory)), scale=0.0003),
                       const("int32", rng.integers(-20000, 20000, units), scale=1e-5),
                       Tensor("int16", (batch, state or filters * memory), scale=0.002,
                              variable=True)]
            output = Tensor("int8", scale=0.04, zero=-20)
        else:
            time = (const("float32", rng.uniform(-1, 1, (filters, memory))) if kind == "float32"
                    else const("int8", rng.integers(-127, 128, (filters, memory)), scale=0.006))
            tensors = [Tensor("float32", (batch, inputs)), weights_of(kind, rng, filters, inputs),
                       time, const("float32", rng.uniform(-1, 1, units)),
                       Tensor("float32", (batch, state or filters * memory), variable=True)]
            output = Tensor("float32")
        if not bias:
            tensors[3] = None
        F.case("SVDF", tensors, [output],
               ("SVDFOptions", dict(rank=rank, fusedActivationFunction=activation,
                                    asymmetricQuantizeInputs=asymmetric)), 4, runs=6, error=error,
               bound=0.0 if kind == "int8" else FLOAT,
               note=f"{kind} {rank} {activation} {asymmetric}")

    for kind in ("int8", "float32", "hybrid"):
        case(kind, 2, 3, 4, 1, 10)
        case(kind, 2, 3, 4, 2, 5)
        case(kind, 1, 40, 17, 2, 1, bias=False)
    case("float32", 2, 3, 4, 1, 3, activation=0)
    case("hybrid", 2, 9, 4, 2, 5, asymmetric=True)
    case("int8", 2, 3, 4, 1, 10, activation=0, error="an activation other than RELU for int8")
    case("float32", 2, 3, 4, 1, 10, state=41, error="80 elements are needed")
    F.case("SVDF", [Tensor("float32", (1, 3)), const("float32", np.zeros((4, 3))),
                    const("float32", np.zeros((4, 2))), None,
                    Tensor("float32", (1, 8), variable=True)], [Tensor("float32")],
           ("SVDFOptions", dict(rank=0)), error="has 4 filters of rank 0")
    F.case("SVDF", [Tensor("float32", (1, 3)), const("float32", np.zeros((4, 3))),
                    const("float32", np.zeros((4, 2))), None,
                    Tensor("float32", (1, 8), variable=True)], [Tensor("float32")],
           ("SVDFOptions", dict(rank=3)), error="has 4 filters of rank 3")


def svdf_of_int8_state(batch, inputs, units, rank, memory, state_zero, state_scale=0.2, bias=True,
                       change=None, error=None, activation=1):
    rng = np.random.default_rng(13)
    filters = units * rank
    x, y = dict(scale=0.03, zero=-7), dict(scale=0.04, zero=-20)
    state = dict(scale=state_scale, zero=state_zero)
    feature = const("int8", rng.integers(-127, 128, (filters, inputs)), scale=0.009)
    time = const("int8", rng.integers(-127, 128, (filters, memory)), scale=0.002)
    biases = const("int32", rng.integers(-2000, 2000, units), scale=state_scale * 0.002)
    tensors = [Tensor("int8", (batch, inputs), **x), feature, time, biases if bias else None,
               Tensor("int8", (batch, filters * memory), variable=True, **state)]
    if change:
        change(tensors)
    layer = Svdf(rank, feature.data, 0.009, time.data, 0.002, biases.data if bias else None,
                 (0.03, -7), (state_scale, state_zero), (0.04, -20), batch)
    F.case("SVDF", tensors, [Tensor("int8", **y)],
           ("SVDFOptions", dict(rank=rank, fusedActivationFunction=activation)), 4, runs=8,
           error=error, oracle=None if error else lambda x: [layer(x)],
           note=f"state int8 {rank} {state_zero} {state_scale}")


def svdfs_of_int8_states():
    svdf_of_int8_state(1, 16, 8, 1, 8, 0)
    svdf_of_int8_state(2, 7, 5, 2, 3, -50)
    svdf_of_int8_state(3, 40, 17, 1, 1, 37, bias=False)
    svdf_of_int8_state(2, 40, 6, 3, 4, 25, state_scale=0.01)  # saturates, then wraps

    def time_of_int16(tensors):
        tensors[2] = const("int16", tensors[2].data.astype(np.int16), scale=0.002)

    def state_of_int32(tensors):
        tensors[4] = Tensor("int32", tensors[4].shape, variable=True, scale=0.2)

    svdf_of_int8_state(1, 4, 4, 1, 2, 0, change=time_of_int16,
                       error="tensor 'x2' is int16, not int8")
    svdf_of_int8_state(1, 4, 4, 1, 2, 0, change=state_of_int32,
                       error="the state 'x4' is int32, not int8 or int16")
    svdf_of_int8_state(1, 4, 4, 1, 2, 0, activation=0,
                       error="an activation other than RELU for int8")


if __name__ == "__main__":
    lstms()
    basics()
    rnns()
    svdfs()
    svdfs_of_int8_states()
    F.write()
