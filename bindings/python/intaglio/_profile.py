"""Where the time of a model goes: Model.profile()."""

from __future__ import annotations

import dataclasses
import functools
import time
from typing import Any

from . import _core
from .errors import ArgumentError

# One color for each operator, in the order of its share; the rest is grey.
_COLORS = ("#3b6fb6", "#e2803a", "#4a9c6d", "#b8507c", "#7d6bb3", "#c9a227", "#3ba3a8", "#9a6b4f")
_GREY = "#a5b0bc"


@dataclasses.dataclass(frozen=True)
class LayerTime:
    """One layer of a profile; times are in microseconds."""

    name: str
    operator: str
    routine: str
    kernel: str
    macs: int
    min_us: float
    median_us: float

    @property
    def gops(self) -> float:
        """10^9 operations a second, of the fastest run; a multiply-accumulate is two."""
        return 2e-3 * self.macs / self.min_us if self.min_us > 0 else 0.0


@dataclasses.dataclass(frozen=True)
class Profile:
    """The times of all layers. Prints as a table, and is a picture in a notebook."""

    model: str
    runs: int
    threads: int
    min_us: float  # of a whole run, with the call from Python
    median_us: float
    layers: tuple[LayerTime, ...]

    def share(self, layer: LayerTime) -> float:
        """The part of the time of all layers that one takes, from 0 to 1."""
        return layer.min_us / self._total_us if self._total_us > 0 else 0.0

    @functools.cached_property
    def _total_us(self) -> float:
        return sum(layer.min_us for layer in self.layers)

    def __str__(self) -> str:
        title = (
            f"{self.model}: {self.min_us:.1f} us (median {self.median_us:.1f} us) "
            f"in {self.runs} runs on {self.threads} thread{'s' if self.threads > 1 else ''}"
        )
        head = ("#", "min us", "median", "share", "GOPS", "layer", "routine")
        rows = [
            (
                str(i),
                f"{layer.min_us:.1f}",
                f"{layer.median_us:.1f}",
                f"{100 * self.share(layer):.1f}%",
                f"{layer.gops:.1f}" if layer.macs else "",
                layer.name,
                f"{layer.routine} {layer.kernel}".rstrip(),
            )
            for i, layer in enumerate(self.layers)
        ]
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines = [title]
        for row in [head, *rows]:
            cells = [
                cell.rjust(width) if i < 5 else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _colors(self) -> dict[str, str]:
        times: dict[str, float] = {}
        for layer in self.layers:
            times[layer.operator] = times.get(layer.operator, 0.0) + layer.min_us
        order = sorted(times, key=lambda name: -times[name])
        return {name: _COLORS[i] if i < len(_COLORS) else _GREY for i, name in enumerate(order)}

    def _repr_html_(self) -> str:
        import html

        colors = self._colors()
        longest = max((layer.min_us for layer in self.layers), default=0.0) or 1.0
        legend = "".join(
            f'<span style="margin-right:16px;white-space:nowrap"><i style="display:inline-block;'
            f"width:11px;height:11px;border-radius:3px;margin-right:6px;"
            f'background:{color}"></i>{html.escape(name)}</span>'
            for name, color in colors.items()
        )
        cell = 'style="text-align:right;padding:3px 8px;white-space:nowrap"'
        left = (
            'style="text-align:left;padding:3px 8px;max-width:340px;overflow:hidden;'
            'text-overflow:ellipsis;white-space:nowrap"'
        )
        rows = []
        for i, layer in enumerate(self.layers):
            name = html.escape(layer.name)
            bar = (
                f'<svg width="240" height="14" role="img"><rect width="240" height="14" rx="3" '
                f'fill="#8884" fill-opacity=".25"/><rect '
                f'width="{max(1.0, 240 * layer.min_us / longest):.1f}" height="14" rx="3" '
                f'fill="{colors[layer.operator]}"/><title>{name}: {layer.min_us:.1f} us'
                f"</title></svg>"
            )
            rows.append(
                f'<tr><td {cell}>{i}</td><td {left} title="{name}">{name}</td><td {left}>{bar}</td>'
                f"<td {cell}>{layer.min_us:.1f} us</td><td {cell}>{layer.median_us:.1f} us</td>"
                f"<td {cell}>{100 * self.share(layer):.1f}%</td>"
                f"<td {cell}>{f'{layer.gops:.1f}' if layer.macs else ''}</td>"
                f"<td {left}>{html.escape(f'{layer.routine} {layer.kernel}'.rstrip())}</td></tr>"
            )
        heads = "".join(
            f"<th {left if text in ('layer', '', 'routine') else cell}>{text}</th>"
            for text in ("#", "layer", "", "min", "median", "share", "GOPS", "routine")
        )
        return (
            '<div style="font:13px/1.45 system-ui,Roboto,Arial,sans-serif">'
            f'<div style="font-size:15px;margin-bottom:4px"><b>{html.escape(self.model)}</b>: '
            f"{self.min_us:.1f} us, median {self.median_us:.1f} us, {self.runs} runs, "
            f"{self.threads} thread{'s' if self.threads > 1 else ''}</div>"
            f'<div style="margin-bottom:6px">{legend}</div>'
            f'<table style="border-collapse:collapse;font-size:13px"><tr>{heads}</tr>'
            f"{''.join(rows)}</table></div>"
        )

    def plot(self, axes: Any = None) -> Any:
        """Draws a bar for each layer with Matplotlib, and returns the axes."""
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise ImportError("plot() needs Matplotlib: pip install matplotlib") from error
            _, axes = pyplot.subplots(figsize=(9, 0.6 + 0.24 * max(4, len(self.layers))))
        colors = self._colors()
        places = range(len(self.layers))
        axes.barh(
            places,
            [layer.min_us for layer in self.layers],
            color=[colors[layer.operator] for layer in self.layers],
        )
        axes.set_yticks(places, [layer.name for layer in self.layers], fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel("microseconds, fastest run")
        axes.set_title(self.model, fontsize=10)
        return axes


def measure(model: _core.Model, inputs: Any, runs: int) -> Profile:
    """What Model.profile does."""
    import statistics  # with much behind it, which the package need not wait for

    if runs < 1:
        raise ArgumentError(f"runs: at least 1, not {runs}")
    if inputs is None:
        import numpy

        inputs = [numpy.zeros(tensor.shape, tensor.dtype) for tensor in model.inputs]
    outputs = model.empty_outputs()
    model.run_into(inputs, outputs)
    whole = []
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        model.run_into(inputs, outputs)
        whole.append(1e6 * (time.perf_counter() - start))
        times.append(model._time_layers(inputs))
    layers = tuple(
        LayerTime(
            layer.name,
            layer.operator,
            layer.routine,
            layer.kernel,
            layer.macs,
            1e-3 * min(counts),
            1e-3 * statistics.median(counts),
        )
        for layer, counts in zip(model.layers, zip(*times))
    )
    return Profile(model.name, runs, model.threads, min(whole), statistics.median(whole), layers)
