"""The targets of x86, 1 thread unless said, and how measured rows are held against them.

A target is looked at in every run; the worst run is shown, and counts.
"""

from rows import geomean

# What dispatch picks, where it was measured, counts but for the shares.
KERNELS = ["amx-int8", "avx512-vnni"]

# Columns of the table of shares of peak: title, contenders (the first that was measured counts).
SHARE_COLUMNS = [
    ("AVX512-VNNI half-even", ["intaglio.avx512-vnni.halfeven"]),
    ("double, general", ["intaglio.avx512-vnni.double"]),
    ("double, proven fit", ["intaglio.avx512-vnni.double.fitted", "intaglio.avx512-vnni.double"]),
    ("AVX-VNNI half-even", ["intaglio.avx-vnni.halfeven"]),
    ("AVX-VNNI double", ["intaglio.avx-vnni.double"]),
    ("AVX2 half-even", ["intaglio.avx2.halfeven"]),
    ("AVX2 double", ["intaglio.avx2.double"]),
]

# Shares of peak, in the order of the columns.
SHARE_TARGETS = {
    "64x64x64": [0.74, 0.55, 0.70, 0.74, 0.60, 0.84, 0.75],
    "64x12544x32": [0.62, 0.36, 0.56, 0.65, 0.45, 0.78, 0.64],
    "64x3136x64": [0.75, 0.55, 0.71, 0.75, 0.61, 0.85, 0.77],
    "128x3136x64": [0.75, 0.55, 0.71, 0.75, 0.61, 0.85, 0.77],
    "256x784x128": [0.84, 0.70, 0.80, 0.83, 0.73, 0.90, 0.85],
    "256x256x256": [0.89, 0.81, 0.87, 0.88, 0.79, 0.94, 0.89],
    "64x3136x576": [0.92, 0.90, None, 0.90, 0.87, 0.92, 0.91],
    "512x196x512": [0.93, 0.89, None, 0.90, 0.87, 0.93, 0.91],
    "768x128x768": [0.93, 0.89, None, 0.90, 0.87, 0.93, 0.91],
    "512x49x4608": [0.90, 0.89, None, 0.87, 0.87, 0.87, 0.87],
    "1024x1024x1024": [0.93, 0.91, None, 0.91, 0.89, 0.89, 0.87],
    "2048x2048x2048": [0.91, 0.90, None, 0.91, 0.89, 0.89, 0.87],
}

# GEMVs have targets of their own, times the best peer.
GEMV_TARGETS = {"1024x1x1024": 1.25, "1000x1x2048": 0.95}


class Line:
    """One target: what is asked, what was measured (None: not measured), at least or at most."""

    def __init__(self, title, target, measured, at_most=False, unit="x"):
        self.title, self.target, self.measured = title, target, measured
        self.at_most, self.unit = at_most, unit

    @property
    def verdict(self):
        if self.measured is None:
            return "not measured"
        hit = self.measured <= self.target if self.at_most else self.measured >= self.target
        return "pass" if hit else "MISS"


def worst(runs, measure, at_most=False):
    """The worst over runs of what `measure` gives; None where no run has it."""
    values = [value for value in map(measure, runs) if value is not None]
    return (max if at_most else min)(values) if values else None


def best(run, way="halfeven"):
    """The name of a way of ours by the best kernel of a run."""
    def measured(kernel):
        return any(row.contender.startswith(f"intaglio.{kernel}.") for row in run.rows)

    return f"intaglio.{next(filter(measured, KERNELS), KERNELS[-1])}.{way}"


def share(run, shape, contenders):
    for contender in contenders:
        row = run.find(shape, contender)
        if row is not None and row["share"] > 0:
            return row["share"]
    return None


def ratio(ours, peer):
    return ours["gops"] / peer["gops"] if ours is not None and peer is not None else None


def peer_ratios(run, shapes, way="halfeven", **case):
    """Ours over the best peer, per shape where both were measured."""
    ratios = {}
    for shape in shapes:
        ours = run.find(shape, best(run, way), **case)
        value = ratio(ours, run.best_peer(shape, **case))
        if value is not None:
            ratios[shape] = value
    return ratios


def least(values):
    return min(values, default=None)


def group_lines(runs):
    lines = []
    for group in ("square", "resnet50", "mobilenet", "transformer", "lstm"):
        def ratios(run, group=group):
            return peer_ratios(run, run.shapes(group)).values()

        lines.append(Line(f"{group}: times the best peer, half-even, geomean", 1.10,
                          worst(runs, lambda run: geomean(ratios(run)))))
        lines.append(Line(f"{group}: times the best peer, the worst shape", 1.0,
                          worst(runs, lambda run: least(ratios(run)))))
    for shape, target in GEMV_TARGETS.items():
        lines.append(Line(f"{shape}: times the best peer", target,
                          worst(runs, lambda run: least(peer_ratios(run, [shape]).values()))))
    lines.append(Line("4096x1x4096: of a plain read of the weights", 1.0, worst(
        runs, lambda run: (run.find("4096x1x4096", best(run)) or {}).get("share_of_read"))))
    lines.append(Line("both sides changing: times the best peer, the worst shape", 1.0,
                      worst(runs, lambda run: least(
                          peer_ratios(run, run.shapes("attention")).values()))))
    for output, way in (("int32", "integer"), ("float", "real")):
        lines.append(Line(f"{output} output: times the best peer, the worst shape", 1.0,
                          worst(runs, lambda run: least(
                              peer_ratios(run, run.shapes(), way, output=output).values()))))
    return lines


def of_itself(run, wanted, numerator, denominator):
    """The least ratio of two of our own cases over the shapes that `wanted` accepts."""
    values = []
    for shape in run.shapes():
        if run.shapes("attention").count(shape) or not wanted(*map(int, shape.split("x"))):
            continue
        value = ratio(numerator(run, shape), denominator(run, shape))
        if value is not None:
            values.append(value)
    return least(values)


def itself_lines(runs):
    def case(way="halfeven", **keywords):
        return lambda run, shape: run.find(shape, best(run, way), **keywords)

    def line(title, target, wanted, numerator, denominator=case()):
        return Line(title, target,
                    worst(runs, lambda run: of_itself(run, wanted, numerator, denominator)))

    def large(m, n, k):
        return m >= 256 and n > 1

    def small(m, n, k):
        return m < 256 and n > 1

    return [
        line("s8 x s8 over u8 x s8, M >= 256", 0.95, large, case(types="s8s8")),
        line("s8 x s8 over u8 x s8, M < 256", 0.90, small, case(types="s8s8")),
        line("u8 x u8 over u8 x s8, M >= 256", 0.95, large, case(types="u8u8")),
        line("u8 x u8 over u8 x s8, M < 256", 0.85, small, case(types="u8u8")),
        line("single over double rounding", 1.0, lambda m, n, k: n > 1,
             case("single"), case("double")),
        line("half-even over single rounding", 1.0, lambda m, n, k: n > 1, case(),
             case("single")),
        line("custom over standard pipeline, K >= 256", 0.90,
             lambda m, n, k: k >= 256 and n > 1, case("halfeven.custom")),
        line("2 threads over 1, from 256^3 up", 1.9,
             lambda m, n, k: m * n * k >= 256**3, case(threads=2)),
    ]


def other_lines(runs):
    def over_float(run):
        values = []
        for shape in run.shapes():
            floats = run.best_peer(shape, floats=True)
            value = ratio(run.find(shape, best(run)), floats)
            if value is not None:
                values.append(value)
        return geomean(values)

    def tiny(run):
        ours = run.find("16x16x16", best(run))
        peer = run.best_peer("16x16x16")
        return ours["min_ns"] / peer["min_ns"] if ours and peer else None

    def packed(run):
        return max((row["ratio"] for row in run.rows if row.program == "pack"
                    and row.contender == "weights.avx512-vnni"), default=None)

    return [
        Line("times the float32 baseline, geomean of all shapes", 4.0, worst(runs, over_float)),
        Line("a call of 16^3, over the best peer's time", 1.0, worst(runs, tiny, True), True),
        Line("packed weights over plain ones, beside the vectors", 1.02,
             worst(runs, packed, True), True),
    ]
