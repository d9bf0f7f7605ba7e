"""The plots of the report."""

import os

from svg import COLORS, Chart, Log, plain
from targets import best


def color_of(names):
    return {name: COLORS[i % len(COLORS)] for i, name in enumerate(names)}


def contenders(run, threads=1):
    """Half-even and peers' contenders of u8 x s8 to bytes, ours first."""
    seen = []
    for row in run.gemm:
        wanted = (row.types, row.output, row.threads) == ("u8s8", "byte", threads)
        if wanted and (not row.ours or row.contender == best(run)) and row.contender not in seen:
            seen.append(row.contender)
    return sorted(seen, key=lambda name: not name.startswith("intaglio"))


def shape_labels(chart, shapes, step):
    for i, shape in enumerate(shapes):
        chart.text(step * (i + 0.5), chart.height + 14, shape, anchor="end", rotate=-45)


def share_of_peak(run, path):
    """Bars: share of the peak of the machine's best 8-bit instruction (float32: of its own)."""
    names = contenders(run)
    shapes = [s for s in run.shapes() if run.find(s, best(run))]
    if not shapes:
        return False
    colors = color_of(names)
    chart = Chart("Share of peak, u8 x s8 to 8 bits, 1 thread", max(600, 50 * len(shapes)), 300,
                  "share of peak")
    for percent in range(0, 101, 20):
        y = chart.height * (1 - percent / 100)
        chart.line([(0, y), (chart.width, y)])
        chart.text(-8, y + 4, f"{percent}%", anchor="end")
    step = chart.width / len(shapes)
    width = 0.8 * step / len(names)
    for i, shape in enumerate(shapes):
        for j, name in enumerate(names):
            row = run.find(shape, name)
            if row is not None:
                height = chart.height * min(1.0, row["share"])
                chart.bar(step * (i + 0.1) + width * j, chart.height - height, width, height,
                          colors[name])
                chart.name(name, colors[name])
    shape_labels(chart, shapes, step)
    chart.write(path)
    return True


def ratio_to_peers(run, path):
    """Dots: our speed over each peer's, on a logarithmic axis; 1 is a tie."""
    names = [name for name in contenders(run) if not name.startswith("intaglio")]
    shapes = [s for s in run.shapes() if run.find(s, best(run)) and run.peers(s)]
    if not shapes or not names:
        return False
    colors = color_of([best(run)] + names)
    chart = Chart("Times each peer's speed, u8 x s8 to 8 bits, half-even, 1 thread",
                  max(600, 40 * len(shapes)), 300, "times the peer")
    axis = Log(0.125, 32, chart.height)
    for tick in (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32):
        y = chart.height - axis(tick)
        chart.line([(0, y), (chart.width, y)], "#444" if tick == 1 else "#ccc")
        chart.text(-8, y + 4, plain(tick), anchor="end")
    step = chart.width / len(shapes)
    for i, shape in enumerate(shapes):
        ours = run.find(shape, best(run))
        for name in names:
            row = run.find(shape, name)
            if row is not None:
                chart.dot(step * (i + 0.5), chart.height - axis(ours["gops"] / row["gops"]),
                          colors[name])
                chart.name(name, colors[name])
    shape_labels(chart, shapes, step)
    chart.write(path)
    return True


def roofline(run, path):
    """Our half-even products against the peak, and the bandwidth that bench_peak measured."""
    points = []
    for shape in run.shapes():
        row = run.find(shape, best(run))
        if row is not None:
            m, n, k = row.size
            points.append((2.0 * m * n * k / (m * k + n * k + m * n), row["gops"], shape))
    if not points:
        return False
    peak = max(run.find(p[2], best(run))["peak_gops"] for p in points)
    chart = Chart("Roofline, u8 x s8 to 8 bits, half-even, 1 thread", 640, 340, "GOPS")
    x = Log(1, 10000, chart.width)
    y = Log(10, 10000, chart.height)
    for tick in x.ticks():
        chart.line([(x(tick), 0), (x(tick), chart.height)], "#eee")
        chart.text(x(tick), chart.height + 14, plain(tick), anchor="middle")
    for tick in y.ticks():
        chart.line([(0, chart.height - y(tick)), (chart.width, chart.height - y(tick))], "#eee")
        chart.text(-8, chart.height - y(tick) + 4, plain(tick), anchor="end")
    chart.text(chart.width / 2, chart.height + 34, "operations per byte of operands and result",
               anchor="middle")
    reads = {int(r.parts[1]): r["gb_per_s"] for r in run.rows
             if r.program == "peak" and r.parts[0] == "read" and r.parts[2] == "t1"}
    wanted = {32 << 10: "32 KiB", 1 << 20: "1 MiB", 16 << 20: "16 MiB", 256 << 20: "256 MiB"}
    for i, (size, label) in enumerate(wanted.items()):
        if size in reads:
            roof = [10 ** (4 * t / 100) for t in range(101)]
            chart.line([(x(v), chart.height - y(min(peak, v * reads[size]))) for v in roof
                        if v * reads[size] >= 10], COLORS[i + 1], 1.2, "5 3")
            chart.name(f"plain reads of {label}", COLORS[i + 1])
    chart.line([(0, chart.height - y(peak)), (chart.width, chart.height - y(peak))], "#444", 1.5)
    chart.text(4, chart.height - y(peak) - 5, f"peak {peak:.0f} GOPS")
    for intensity, gops, _ in points:
        chart.dot(x(intensity), chart.height - y(gops), COLORS[0])
    chart.name("products", COLORS[0])
    chart.write(path)
    return True


def growth(run, path):
    """GOPS over the side of cubes, per contender and number of threads."""
    cubes = [row for row in run.gemm if row.group == "growth" and row.types == "u8s8"
             and row.output == "byte" and (not row.ours or row.contender == best(run))]
    if not cubes:
        return False
    top = max(row["gops"] for row in cubes) * 1.05
    chart = Chart("Growth: cubes, u8 x s8 to 8 bits", 640, 320, "GOPS")
    x = Log(16, 4096, chart.width)
    for side in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        chart.line([(x(side), 0), (x(side), chart.height)], "#eee")
        chart.text(x(side), chart.height + 14, side, anchor="middle")
    for i in range(6):
        chart.text(-8, chart.height * (1 - i / 5) + 4, f"{top * i / 5:.0f}", anchor="end")
    lines = sorted({(row.contender, row.threads) for row in cubes},
                   key=lambda key: (not key[0].startswith("intaglio"), key))
    colors = color_of([name for name in dict.fromkeys(name for name, _ in lines)])
    for name, threads in lines:
        points = sorted((row.size[0], row["gops"]) for row in cubes
                        if (row.contender, row.threads) == (name, threads))
        chart.line([(x(side), chart.height * (1 - gops / top)) for side, gops in points],
                   colors[name], 2.5 if name == best(run) else 1.2, "" if threads == 1 else "6 3")
        chart.name(name + ("" if threads == 1 else f", {threads} threads (dashed)"), colors[name])
    chart.write(path)
    return True


def draw_all(run, directory):
    """Writes every plot that there are figures for, and returns (title, file name) of each."""
    plots = [("Share of peak by shape", "share.svg", share_of_peak),
             ("Ratio to each peer", "ratio.svg", ratio_to_peers),
             ("Roofline", "roofline.svg", roofline),
             ("Growth", "growth.svg", growth)]
    return [(title, name) for title, name, draw in plots
            if draw(run, os.path.join(directory, name))]
