"""Reads the JSON of the benchmark programs."""

import copy
import json
import math


class Row:
    """One measured figure of one run."""

    def __init__(self, entry):
        parts = entry["name"].split("/")
        self.program, self.parts = parts[0], parts[1:]
        self.values = entry
        self.contender = parts[-1]
        if self.program == "gemm":
            self.group, self.shape, self.types, self.output, threads, _ = self.parts
            self.threads = int(threads[1:])
            self.size = tuple(int(n) for n in self.shape.split("x"))

    def __getitem__(self, key):
        return self.values.get(key, 0.0)

    def get(self, key):
        return self.values.get(key)

    @property
    def ours(self):
        return self.contender.startswith("intaglio.")

    @property
    def is_float(self):
        return self["is_float"] != 0


def read(path):
    """Reads the JSON of a benchmark program. A ValueError says what is wrong with other files."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("context"), dict):
        raise ValueError(f"{path}: not the JSON of a benchmark program (no context)")
    if not data.get("benchmarks") and not data.get("rows"):
        raise ValueError(f"{path}: holds no measurements")
    return data


class Run:
    """One JSON file: the rows of bench_gemm, bench_peak, bench_ops or bench_pack, or models."""

    def __init__(self, path):
        data = read(path)
        self.path = path
        self.context = data["context"]
        self.rows = [Row(entry) for entry in data.get("benchmarks", [])]
        self.models = data.get("rows", [])  # from bench/models
        self.summaries = [s for s in data.get("summary", []) if s is not None]
        self.index()

    def index(self):
        self.gemm = [row for row in self.rows if row.program == "gemm"]
        # The same shape may stand in several groups: the best of its measurements counts.
        self.best = {}
        for row in self.gemm:
            key = (row.shape, row.types, row.output, row.threads, row.contender)
            if key not in self.best or row["gops"] > self.best[key]["gops"]:
                self.best[key] = row

    def find(self, shape, contender, types="u8s8", output="byte", threads=1):
        return self.best.get((shape, types, output, threads, contender))

    def peers(self, shape, types="u8s8", output="byte", threads=1, floats=False):
        """Peers' rows of one case; without the float32 baseline, or only it."""
        return [
            row
            for (s, ty, out, th, _), row in self.best.items()
            if (s, ty, out, th) == (shape, types, output, threads)
            and not row.ours
            and row.is_float == floats
        ]

    def best_peer(self, *args, **kwargs):
        return max(self.peers(*args, **kwargs), key=lambda row: row["gops"], default=None)

    def shapes(self, group=None):
        seen = []
        for row in self.gemm:
            if (group is None or row.group == group) and row.shape not in seen:
                seen.append(row.shape)
        return seen

    def groups(self):
        seen = []
        for row in self.gemm:
            if row.group not in seen:
                seen.append(row.group)
        return seen


def merged(runs):
    """All rows as one run; of rows of the same name, the first."""
    whole = copy.copy(runs[0])
    first = {}
    for run in runs:
        for row in run.rows:
            first.setdefault(row.values["name"], row)
    whole.rows = list(first.values())
    whole.index()
    return whole


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
