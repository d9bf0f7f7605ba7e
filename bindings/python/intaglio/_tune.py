"""tune() and the plans that it makes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from .errors import ArgumentError


class Plan:
    """How each layer of a model is computed fastest on this machine. tune() makes one, and
    ``load(..., plan=plan)`` takes it. ``text`` is the JSON that ``python -m intaglio tune`` writes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._plan = json.loads(text)

    @property
    def untuned(self) -> float:
        """The seconds of a run without the plan."""
        return float(self._plan["untuned_ns"]) * 1e-9

    @property
    def tuned(self) -> float:
        """The seconds of a run with it, measured in turns with the other."""
        return float(self._plan["tuned_ns"]) * 1e-9

    @property
    def layers(self) -> list[dict[str, Any]]:
        """The layers that change; docs/tuning.md says what is known of each."""
        return list(self._plan["layers"])

    @property
    def difference(self) -> dict[str, float] | None:
        """By how much outputs differ if layers compute in float32; else None."""
        difference = self._plan.get("difference")
        return None if difference is None else dict(difference)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def __repr__(self) -> str:
        return (
            f"<intaglio.Plan of {len(self.layers)} layers: {self.tuned * 1e3:.3f} ms instead of "
            f"{self.untuned * 1e3:.3f} ms>"
        )


def tune(
    model: _core.Model,
    *,
    seconds: float = 10.0,
    allow_float32: bool = False,
    max_error: float | None = None,
    inputs: Mapping[str, Any] | Sequence[Any] | None = None,
    max_bytes: int = 0,
    ranges: Mapping[str, tuple[float, float]] | str | os.PathLike[str] | None = None,
) -> Plan:
    """Finds the fastest way to compute each layer of a model on this machine, which should be idle.

    model: one that was loaded without a plan. It is not changed; load it again with the plan.
    seconds: for all of it, preparing and comparing included.
    allow_float32: let layers of int8 and uint8 compute in float32 where the network gains by it.
        Results are no longer the same bits then: Plan.difference says by how much they differ.
    max_error: by how much outputs may differ then: the root mean square of what they differ by, over
        that of the outputs. None: any.
    inputs: arrays by name or in order, as Model.run() takes them, on which everything is measured.
        Without them, inputs are random.
    max_bytes: the most bytes of packed weights and activations together; 0: any.
    ranges: the least and the greatest number of activations by name, or a file that
        ``python -m intaglio quantize --ranges`` writes. Layers of float32 may compute with int8 then.
    """
    if not (math.isfinite(seconds) and 0 <= seconds <= 86400):
        raise ArgumentError(f"seconds: a number from 0 to 86400, not {seconds}")
    if max_bytes < 0:
        raise ArgumentError(f"max_bytes: not negative, not {max_bytes}")
    if max_error is not None and not (math.isfinite(max_error) and max_error >= 0):
        raise ArgumentError(f"max_error: a number from 0 on, not {max_error}")
    if max_error is not None and not allow_float32 and not ranges:
        raise ArgumentError("max_error: needs allow_float32=True or ranges; results are exact without")
    error = -1.0 if max_error is None else float(max_error)
    text = _core._tune(
        model, float(seconds), bool(allow_float32), error, int(max_bytes), inputs, _ranges_text(ranges)
    )
    return Plan(text)


def _ranges_text(ranges: Mapping[str, tuple[float, float]] | str | os.PathLike[str] | None) -> str:
    if ranges is None:
        return ""
    if isinstance(ranges, Mapping):
        numbers = {name: [float(low), float(high)] for name, (low, high) in ranges.items()}
        return json.dumps({"format": "intaglio-ranges-1", "ranges": numbers})
    with open(ranges, encoding="utf-8", errors="replace") as file:
        return file.read()


def plan_text(plan: Plan | str | os.PathLike[str] | bytes | None) -> str:
    """The text of a plan, or of the file that a path names; empty: no plan."""
    if plan is None:
        return ""
    if isinstance(plan, Plan):
        return plan.text
    if isinstance(plan, bytes):
        return plan.decode("utf-8", "replace")
    with open(plan, encoding="utf-8", errors="replace") as file:
        return file.read()
