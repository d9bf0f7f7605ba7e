"""Draws what the programs of this folder measured, and prints it as tables.

    python3 bench/quantization/pictures.py FOLDER

Reads FOLDER/grid.json, cells*.json of grid.py, peers*.json, distill*.json, trained*.json (grids of distill.py) and
speed.json, as far as they are there, and writes grid.NETWORK.svg, grid.trained.svg and peers.NETWORK.svg beside them. If
two files have results for the same network, form and seed, the one that is last by its name counts. Numbers are points
of a hundred of right answers: the change from float32, in the mean of the seeds.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "report"))

from svg import COLORS, Chart  # noqa: E402

BITS = range(4, 9)
CELL = 64


def signed(change):
    text = f"{change:+.2f}".replace("+0.", "+.").replace("-0.", "-.")
    return ".00" if text in ("+.00", "-.00") else text


def shade(change):
    """White for no change, red for a loss of 4 points or more, by steps that the eye can tell."""
    share = min(max(-change / 4, 0.0), 1.0) ** 0.5
    return "#{:02x}{:02x}{:02x}".format(*(round(255 - share * (255 - full)) for full in (200, 60, 50)))


def cells_of(rows, network, way):
    """The mean change of each cell, by bits of weights and activations."""
    cells = {}
    for row in rows:
        if row["network"] == network:
            cells.setdefault((row["weights"], row["activations"]), []).append(row[way] - row["float32"])
    return {key: statistics.mean(changes) for key, changes in cells.items()}


def place_in_grid(row):
    """A row of distill.py as one of grid.py."""
    weights, activations = map(int, row["bits"][1:].split("a"))
    return row | {"weights": weights, "activations": activations}


def draw_grids(grids, title, path):
    """Grids side by side, by their names."""
    chart = Chart(title, len(grids) * (5 * CELL + 70) - 30, 5 * CELL + 20, "bits of weights")
    for place, (name, cells) in enumerate(grids.items()):
        left = place * (5 * CELL + 70)
        chart.text(left + 2.5 * CELL, 8, name, size=12, anchor="middle")
        for (weights, activations), change in cells.items():
            x, y = left + (activations - BITS[0]) * CELL, 20 + (BITS[-1] - weights) * CELL
            chart.bar(x + 1, y + 1, CELL - 2, CELL - 2, shade(change))
            chart.text(x + CELL / 2, y + CELL / 2 + 4, signed(change), size=13, anchor="middle")
        for i, bits in enumerate(BITS):
            chart.text(left - 8, 20 + (len(BITS) - i - 0.5) * CELL + 4, bits, anchor="end")
            chart.text(left + (i + 0.5) * CELL, 5 * CELL + 38, bits, anchor="middle")
        chart.text(left + 2.5 * CELL, 5 * CELL + 58, "bits of activations", anchor="middle")
    chart.write(path)


def draw_grid(rows, network, path):
    ways = {"extremes": "ranges by extremes", "learned": "by error, learned rounding, corrected biases"}
    grids = {name: cells_of(rows, network, way) for way, name in ways.items()}
    draw_grids(grids, f"{network}: points of accuracy beside float32, after training", path)


def print_grids(grids):
    for name, cells in grids.items():
        print(f"\n{name}: weights down, activations across\n")
        print("| | " + " | ".join(str(bits) for bits in BITS) + " |")
        print("|---|" + "---|" * len(BITS))
        for weights in reversed(BITS):
            changes = (cells.get((weights, activations)) for activations in BITS)
            print(f"| {weights} | " + " | ".join("" if c is None else signed(c) for c in changes) + " |")


def print_speed(rows):
    columns = list(rows[0])[1:]
    print("\n| network | " + " | ".join(f"{column}, ms" for column in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for row in rows:
        print(f"| {row['network']} | " + " | ".join(f"{row[column]:.3f}" for column in columns) + " |")


def print_cells(rows):
    """What grid.py measured for some cells only, as the mean and the deviation of the seeds."""
    print("\n| network | form | seeds | float32 | by extremes | deviation | learned | deviation |")
    print("|---|---|---|---|---|---|---|---|")
    for network, weights, activations in dict.fromkeys((r["network"], r["weights"], r["activations"]) for r in rows):
        mine = [r for r in rows if (r["network"], r["weights"], r["activations"]) == (network, weights, activations)]
        cells = [f"{statistics.mean(r['float32'] for r in mine):.2f}"]
        for way in ("extremes", "learned"):
            changes = [r[way] - r["float32"] for r in mine]
            cells += [signed(statistics.mean(changes)), f"{statistics.stdev(changes) if len(changes) > 1 else 0:.2f}"]
        print(f"| {network} | w{weights}a{activations} | {len(mine)} | " + " | ".join(cells) + " |")


def draw_peers(forms, network, path):
    """Bars of the change from float32. One of more than `most` points ends at the edge."""
    most, longest = 3.0, 300
    exact = statistics.mean(forms["float32"]["right"])
    changes = {form: statistics.mean(p["right"]) - exact for form, p in forms.items() if form != "float32"}
    chart = Chart(f"{network}: points below float32 ({exact:.2f} %)", 420, 20 * len(changes), "")
    for i, (form, change) in enumerate(changes.items()):
        ours = form.startswith("intaglio")
        chart.bar(0, 20 * i + 3, longest * min(max(-change, 0.0), most) / most, 14, COLORS[0 if ours else 1])
        chart.text(longest + 12, 20 * i + 14, f"{signed(change)}  {form}")
    chart.write(path)


def print_table(peers, cell):
    """Forms down, networks across."""
    print("\n| form | " + " | ".join(peers) + " |")
    print("|---|" + "---|" * len(peers))
    for form in dict.fromkeys(form for forms in peers.values() for form in forms):
        cells = [cell(form, forms) if form in forms else "" for forms in peers.values()]
        print(f"| {form} | " + " | ".join(cells) + " |")


def print_peers(peers):
    """The mean change of each form from float32, of float32 the mean itself; then how near each form is to float32."""

    def change(form, forms):
        mean, exact = (statistics.mean(forms[name]["right"]) for name in (form, "float32"))
        return f"{mean:.2f}" if form == "float32" else signed(mean - exact)

    def nearness(form, forms):
        return f"{statistics.mean(forms[form]['sqnr']):.1f} dB, {100 - statistics.mean(forms[form]['same']):.2f}"

    print_table(peers, change)
    print("\nDecibels of the logits over their distance from float32's, and percent of answers that differ")
    print_table(peers, nearness)


def print_distilled(rows):
    heads = ("network", "form", "seeds", "float32", "trained as long", "simulated", "deployed", "logits apart")
    print("\n| " + " | ".join((*heads, "change", "deviation")) + " |\n" + "|---" * (len(heads) + 2) + "|")
    for network, bits in dict.fromkeys((row["network"], row["bits"]) for row in rows):
        mine = [row for row in rows if (row["network"], row["bits"]) == (network, bits)]
        changes = [row["deployed"] - row["float32"] for row in mine]
        control = f"{statistics.mean(r['control'] for r in mine):.2f}" if all("control" in r for r in mine) else ""
        deviation = statistics.stdev(changes) if len(changes) > 1 else 0
        exact, *means = (f"{statistics.mean(r[key] for r in mine):.2f}" for key in ("float32", "simulated", "deployed"))
        apart = sum(row["logits that differ"] for row in mine)
        cells = (network, bits, len(mine), exact, control, *means, apart, signed(statistics.mean(changes)))
        print("| " + " | ".join(map(str, cells)) + f" | {deviation:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    if not any(folder.glob("*.json")):
        raise SystemExit(f"there are no results (*.json) in {folder}")

    def read_all(names):
        return [json.loads(path.read_text()) for path in sorted(folder.glob(names))]

    path = folder / "grid.json"
    grid = json.loads(path.read_text()) if path.exists() else []
    for network in dict.fromkeys(row["network"] for row in grid):
        draw_grid(grid, network, folder / f"grid.{network}.svg")
        print_grids({f"{network}, {way}": cells_of(grid, network, way) for way in ("extremes", "learned")})
    trained = [place_in_grid(row) for file in read_all("trained*.json") for row in file]
    if trained:
        networks = dict.fromkeys(row["network"] for row in trained)
        grids = {network: cells_of(trained, network, "deployed") for network in networks}
        steps = ", ".join(str(n) for n in sorted({row["steps"] for row in trained}))
        draw_grids(grids, f"points of accuracy beside float32, trained for {steps} steps", folder / "grid.trained.svg")
        print_grids({f"{network}, trained": cells for network, cells in grids.items()})
    keys = ("network", "weights", "activations", "seed")
    cells = {tuple(row[key] for key in keys): row for file in read_all("cells*.json") for row in file}
    wanted = {key[1:3] for key in cells}
    cells |= {tuple(row[key] for key in keys): row for row in grid if (row["weights"], row["activations"]) in wanted}
    if cells:
        print_cells(list(cells.values()))
    peers = {network: forms for file in read_all("peers*.json") for network, forms in file.items()}
    for network, forms in peers.items():
        draw_peers(forms, network, folder / f"peers.{network}.svg")
    if peers:
        print_peers(peers)
    rows = {(row["network"], row["bits"], row["seed"]): row for file in read_all("distill*.json") for row in file}
    if rows:
        print_distilled(list(rows.values()))
    for rows in read_all("speed.json"):
        print_speed(rows)


main()
