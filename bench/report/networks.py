"""Draws the networks of docs/performance.md: times as fast as the faster peer, one thread.

    python3 bench/report/networks.py docs/performance.md docs/networks.svg
"""

import re
import sys

from svg import COLORS, Chart

# The sections to draw, and their names in the picture.
MACHINES = {"Xeon": "AMX (Granite Rapids)", "Zen 5": "AVX512-VNNI (Zen 5)", "Zen 4": "AVX512-VNNI (Zen 4)",
            "A CPU that shows AVX2 alone": "AVX2 alone"}
TOP = 4


def first(cell):
    """The number for one thread, from "1.35 / 0.71"."""
    return float(cell.split("/")[0])


def ratio(cells):
    """The time of the faster peer over ours, from a row."""
    ours, *peers = [first(cell) for cell in cells[:3] if cell]
    return min(peers) / ours


def sections(text):
    """Yields each machine with the ratios of its networks."""
    for section in re.split(r"\n### ", text)[1:]:
        title = section.split("\n", 1)[0].split(",")[0]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
                if re.match(r"\| [A-Z]\w+.*, \d+ \|", line)]
        if title in MACHINES and rows:
            yield MACHINES[title], {row[0].split(",")[0]: ratio(row[1:]) for row in rows}


def draw(machines, path):
    networks = list(dict.fromkeys(network for rows in machines.values() for network in rows))
    chart = Chart("int8 networks, one thread: times as fast as the faster of LiteRT and ONNX Runtime",
                  760, 260, "times as fast")
    for tick in range(TOP + 1):
        y = chart.height * (1 - tick / TOP)
        chart.line([(0, y), (chart.width, y)], "#444" if tick == 1 else "#ccc")
        chart.text(-8, y + 4, str(tick), anchor="end")
    step = chart.width / len(networks)
    width = 0.8 * step / len(machines)
    for j, (machine, rows) in enumerate(machines.items()):
        chart.name(machine, COLORS[j])
        for i, network in enumerate(networks):
            if network in rows:
                height = chart.height * min(1.0, rows[network] / TOP)
                chart.bar(step * (i + 0.1) + width * j, chart.height - height, width, height, COLORS[j])
    for i, network in enumerate(networks):
        chart.text(step * (i + 0.5), chart.height + 16, network, anchor="middle")
    chart.write(path)


def main(source, target):
    with open(source, encoding="utf-8") as file:
        machines = dict(sections(file.read()))
    if set(machines) != set(MACHINES.values()):
        sys.exit(f"{source}: no table for {set(MACHINES.values()) - set(machines)}")
    draw({name: machines[name] for name in MACHINES.values()}, target)


if __name__ == "__main__":
    main(*sys.argv[1:])
