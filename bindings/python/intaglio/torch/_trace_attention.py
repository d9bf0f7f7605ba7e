"""Which steps the layers of a transformer become: a part of _trace.py."""

from __future__ import annotations

import math

import numpy as np
from torch import nn

from . import _attention, _steps


class Attention:
    """A part of _trace.Steps."""

    def _scale(self, node, x, factor) -> None:
        """Weights before take up the factor, if nothing else reads their layer and what follows."""
        source = self._source(node, x)
        factor = self._checked(node, factor)
        product = self._scalable(source)
        if product is None:
            step = _attention.Scale(node.name, self._label(node), [source], factor)
            return self._put(node, step)
        product.factor *= factor
        self._become(node, source)

    def _checked(self, node, factor) -> float:
        factor = float(np.float32(factor))
        if not math.isfinite(factor) or factor == 0:
            raise self._refusal(node, f"the factor {factor}")
        return factor

    def _scalable(self, name) -> _steps.Product | None:
        step = self.steps[name]
        if self.readers[name] != 1:
            return None
        if isinstance(step, _steps.Product):
            return step if step.norm is None and step.activation is None else None
        if isinstance(step, (_steps.Permute, _steps.Reshape)):
            return self._scalable(step.sources[0])
        if isinstance(step, _attention.MatMul):
            return self._scalable(step.sources[0]) or self._scalable(step.sources[1])
        return None

    def _matmul(self, node, a, b) -> None:
        shapes = [self._shape(n) for n in (a, b) if n in self.names]
        if len(shapes) != 2:
            for argument in (a, b):
                if argument in self.constants:
                    raise self._refusal(
                        node, f"the parameter {argument.target} is an operand; write nn.Linear"
                    )
                self._source(node, argument)
        fits = len(shapes[0]) == len(shapes[1]) > 2 and shapes[0][:-2] == shapes[1][:-2]
        if not fits:
            raise self._refusal(
                node,
                f"operands of the shapes {shapes[0]} and {shapes[1]}; batches of matrices, with "
                "equal dimensions before the last two, are supported",
            )
        found = [self._untransposed(self._laid(node, operand, False)) for operand in (a, b)]
        sources, transposes = zip(*found)
        step = _attention.MatMul(node.name, self._label(node), list(sources), transposes)
        self._put(node, step, False)

    def _untransposed(self, name) -> tuple[str, bool]:
        """What a step transposes for one product alone, which BATCH_MATMUL can do by itself."""
        step = self.steps[name]
        if not isinstance(step, _steps.Permute) or self.readers[name] != 1 or step.from_image:
            return name, False
        rank = len(step.permutation)
        if step.permutation != (*range(rank - 2), rank - 1, rank - 2):
            return name, False
        del self.steps[name]
        self.shared = [pair for pair in self.shared if name not in pair]
        return step.sources[0], True

    def _softmax(self, node, x, dim=None, *_, dtype=None, **__) -> None:
        rank = len(self._shape(x))
        if dtype is not None:
            raise self._refusal(node, f"dtype is {dtype}")
        if dim is None or dim % rank != rank - 1 or rank < 2:
            raise self._refusal(node, f"dim is {dim}; the last of {rank} dimensions is supported")
        source = self._laid(node, x, False)
        self._put(node, _attention.Softmax(node.name, self._label(node), [source]), False)

    def _dot_product_attention(
        self, node, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, **more
    ) -> None:
        """Two products, and softmax between. Dropout does nothing, as elsewhere."""
        if attn_mask is not None or is_causal or more.pop("enable_gqa", False):
            raise self._refusal(node, "attn_mask, is_causal and enable_gqa are not supported")
        shapes = [self._shape(x) for x in (query, key, value)]
        if {len(s) for s in shapes} & {1, 2} or len({s[:-2] for s in shapes}) != 1:
            raise self._refusal(node, f"operands of the shapes {shapes}")
        scale = more.pop("scale", None)
        factor = self._checked(node, shapes[0][-1] ** -0.5 if scale is None else scale)
        sources = [self._laid(node, x, False) for x in (query, key, value)]
        product = self._scalable(sources[0])

        def inner(kind, name, parts, *more):
            step = kind(f"{node.name}/{name}", f"{self._label(node)}/{name}", parts, *more)
            step.source_shape = shapes[0]
            self.steps[step.name], self.readers[step.name] = step, 1
            return step.name

        if product is not None:
            product.factor *= factor
        else:
            sources[0] = inner(_attention.Scale, "scaled", sources[:1], factor)
        scores = inner(_attention.MatMul, "scores", sources[:2], (False, True))
        shares = inner(_attention.Softmax, "shares", [scores])
        parts = [shares, sources[2]]
        step = _attention.MatMul(node.name, self._label(node), parts, (False, False))
        self._put(node, step, False)

    def _layer_norm(self, node, x, module) -> None:
        if len(module.normalized_shape) != 1 or len(self._shape(x)) < 2:
            raise self._refusal(
                node, f"over {tuple(module.normalized_shape)}; the last dimension is supported"
            )
        source = self._laid(node, x, False)
        self._put(
            node, _attention.LayerNorm(node.name, self._label(node), [source], module), False
        )

    def _permute(self, node, x, *dims) -> None:
        dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
        self._move(node, x, [d % len(dims) for d in dims])

    def _transpose(self, node, x, dim0, dim1) -> None:
        order = list(range(len(self._shape(x))))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        self._move(node, x, order)

    def _move(self, node, x, order) -> None:
        source = self._source(node, x)
        if order[0] != 0:
            raise self._refusal(node, f"moves the first dimension: {tuple(order)}")
        if order == sorted(order):
            return self._identity(node, x)
        from_image = self.steps[source].image
        moved = _steps.Permute(node.name, self._label(node), [source], order, from_image)
        self._put(node, moved, False)
        self.shared.append((moved.name, source))

    def _constant(self, node, argument, rank, image) -> str:
        """Each reader has its own, because ranks and layouts may differ."""
        numbers = self.constants[argument]
        shape = (*[1] * (rank - numbers.dim()), *numbers.shape)
        if not numbers.is_floating_point():
            raise self._refusal(node, f"{argument.target} has {numbers.dtype}, not floats")
        if len(shape) > rank or shape[0] != 1:
            raise self._refusal(
                node, f"{argument.target}, {tuple(numbers.shape)}, does not broadcast to a batch"
            )
        kept = numbers.reshape(shape)
        if isinstance(numbers, nn.Parameter):
            kept = nn.Parameter(kept.detach(), numbers.requires_grad)
        label = str(argument.target)
        name = label if label not in self.steps else f"{label}/for_{node.name}"
        step = _attention.Constant(name, name, kept)
        step.image = image
        self.steps[name], self.readers[name] = step, 1
        return name
