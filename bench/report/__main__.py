"""Turns the JSON of the benchmark programs into report.md and SVG plots.

    python3 bench/report --out DIRECTORY FILE.json ...

Files of the same machine: runs of bench_gemm (several runs of the same cases are held against the
targets one by one, and the worst counts), bench_peak, bench_pack, bench_ops, bench/models. Plots and the
table of all products show the first run of each case.
"""

import argparse
import os
import sys

import plots
import targets
from rows import Run, merged


def table(head, body):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(lines) + "\n"


def machine(runs):
    context = runs[0].context
    cpus = f", {context['num_cpus']} CPUs" if "num_cpus" in context else ""
    lines = [f"- machine: {context.get('cpu', '?')}{cpus}"]
    if "compiler" in context:
        lines.append(f"- compiler: {context['compiler']}; Intaglio {context.get('version', '?')}")
    for run in runs:
        command = run.context.get("command", "another program")
        lines.append(f"- {run.context.get('date', '?')}: `{command}`"
                     f" ({os.path.basename(run.path)})")
    peers = {key[5:]: value for run in runs for key, value in run.context.items()
             if key.startswith("peer ")}
    lines += [f"- peer {name}: {version}" for name, version in peers.items()]
    absent = {run.context["absent peers"] for run in runs if run.context.get("absent peers")}
    for names in sorted(absent):
        lines.append(f"- peers that could not be had here: {names}")
    return "\n".join(lines) + "\n"


def share_table(runs):
    body = []
    for shape, wanted in targets.SHARE_TARGETS.items():
        cells = [shape]
        peer = targets.worst(runs, lambda run: (run.best_peer(shape) or {}).get("share"))
        cells.append("" if peer is None else f"{peer:.2f}")
        for (_, contenders), target in zip(targets.SHARE_COLUMNS, wanted):
            value = targets.worst(runs, lambda run: targets.share(run, shape, contenders))
            if target is None:
                cells.append("")
            elif value is None:
                cells.append(f"- / {target:.2f}")
            else:
                cells.append(f"{value:.2f} / {target:.2f}"
                             + ("" if value >= target else " **MISS**"))
        body.append(cells)
    return table(["M x N x K", "best peer"] + [title for title, _ in targets.SHARE_COLUMNS], body)


def lines_table(runs):
    lines = targets.group_lines(runs) + targets.itself_lines(runs) + targets.other_lines(runs)
    body = []
    for line in lines:
        measured = "" if line.measured is None else f"{line.measured:.2f}{line.unit}"
        bound = "at most" if line.at_most else "at least"
        body.append([line.title, f"{bound} {line.target:.2f}{line.unit}", measured, line.verdict])
    return table(["", "target", "measured", ""], body)


def all_rows_table(run):
    """Every case, GOPS per contender."""
    cases, names = {}, []
    for row in run.gemm:
        cases.setdefault((row.group, row.shape, row.types, row.output, row.threads), {})[
            row.contender] = row
        if row.contender not in names:
            names.append(row.contender)
    names.sort(key=lambda name: not name.startswith("intaglio"))
    body = []
    for (group, shape, types, output, threads), rows in cases.items():
        cells = [group, shape, types, output, str(threads)]
        for name in names:
            row = rows.get(name)
            cells.append("" if row is None else f"{row['gops']:.0f} ({100 * row['share']:.0f}%)")
        body.append(cells)
    return table(["group", "M x N x K", "types", "output", "threads"] + names, body)


def simple_table(runs, program, head, cells):
    body = [cells(row) for run in runs for row in run.rows if row.program == program]
    return table(head, body) if body else ""


def milliseconds(row, name):
    entry = row.get(name, {})
    return f"{entry['ms']:.3f}" if "ms" in entry else entry.get("error", "")


def models_table(run):
    names = ["intaglio", "litert", "onnxruntime_exact", "onnxruntime", "openvino", "litert_float",
             "onnxruntime_float"]
    names = [name for name in names if any(name in row for row in run.models)]
    return table(["model", "kind", "threads", *(f"{name}, ms" for name in names),
                  "largest difference to " + ("onnxruntime_exact" if "onnxruntime_exact" in names else "litert")],
                 [[row["model"], row["kind"], str(row["threads"]),
                   *(milliseconds(row, name) for name in names), str(row.get("difference", ""))]
                  for row in run.models])


def models_section(run):
    versions = run.context.get("versions", {})
    lines = [f"- {name} {version}" for name, version in versions.items()]
    lines += [f"- {s['threads']} threads, {s['models']} of kind {s['kind']}: the geometric mean of "
              f"the faster peer's time over ours is {s['geomean']:.2f}, the least {s['worst']:.2f} "
              f"({s['worst_model']})" for s in run.summaries]
    return "\n".join(lines) + "\n\n" + models_table(run)


def wrong_results(runs):
    """A line for each contender: where its result was wrong first, in how many cases, and why."""
    wrong = {}
    for run in runs:
        for row in run.rows:
            if row.program == "wrong":
                wrong.setdefault(row.contender, []).append(row)
    return "".join(f"- {name}: left out of {len(rows)} cases, of which the first is "
                   f"{'/'.join(rows[0].parts[1:-1])}: {rows[0].get('label')}\n"
                   for name, rows in wrong.items())


def sections(runs, shown, drawn):
    yield "# Benchmark report\n"
    yield machine(runs)
    gemm = [run for run in runs if run.gemm]
    if gemm:
        yield ("## Targets, 1 thread: share of the peak measured in the same run, measured / target\n")
        yield share_table(gemm)
        yield "## Further targets\n"
        yield lines_table(runs)
        for title, name in drawn:
            yield f"![{title}]({name})\n"
        yield "## All products: GOPS (share of peak)\n"
        yield all_rows_table(shown)
    extra = [
        ("## Wrong results\n", wrong_results(runs)),
        *(("## Networks, beside other engines\n", models_section(run))
          for run in runs if run.models),
        ("## Peaks\n", simple_table(
            [run for run in runs if any(r.program == "peak" for r in run.rows)], "peak",
            ["", "", "threads", "rate"],
            lambda r: [r.parts[0], r.parts[1], r.parts[2][1:],
                       f"{r['gops']:.0f} GOPS" if r.parts[0] == "instruction"
                       else f"{r['gb_per_s']:.1f} GB/s"])),
        ("## Operators\n", simple_table(
            runs, "ops", ["operator", "layer", "threads", "GOPS", "share of bound"],
            lambda r: [r.parts[0], r.parts[1], r.parts[2][1:], f"{r['gops']:.1f}",
                       f"{100 * r['share']:.0f}%"])),
        ("## Packing\n", simple_table(
            runs, "pack", ["M x K", "what", "GB/s", "packed / plain bytes"],
            lambda r: [r.parts[0], r.contender, f"{r['gb_per_s']:.2f}", f"{r['ratio']:.3f}"])),
    ]
    for title, text in extra:
        if text:
            yield title
            yield text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="directory for report.md and the plots")
    parser.add_argument("files", nargs="+", help="JSON files of the benchmark programs")
    arguments = parser.parse_args()
    try:
        runs = [Run(path) for path in arguments.files]
    except ValueError as error:
        sys.exit(f"bench/report: {error}")
    os.makedirs(arguments.out, exist_ok=True)
    shown = merged(runs)
    drawn = plots.draw_all(shown, arguments.out)
    with open(os.path.join(arguments.out, "report.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(sections(runs, shown, drawn)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
