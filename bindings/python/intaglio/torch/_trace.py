"""From a module of PyTorch to steps: which layers become one, and which quantizers they share."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
import torch.nn.functional as F
from torch import nn
from torch.fx.node import map_arg
from torch.fx.passes.shape_prop import ShapeProp

from . import _steps
from ._errors import UnsupportedLayerError
from ._trace_attention import Attention


class _Leaves(torch.fx.Tracer):
    """Looks into everything that is not of torch.nn itself."""

    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return type(module).__module__.startswith("torch.nn") and not isinstance(
            module, (nn.Sequential, nn.ModuleList, nn.ModuleDict)
        )


def trace(module: nn.Module, examples: tuple[torch.Tensor, ...]) -> torch.fx.GraphModule:
    tracer = _Leaves()
    if tracer.is_leaf_module(module, ""):
        module = nn.Sequential(module)
    try:
        graph = tracer.trace(module)
    except Exception as error:
        raise UnsupportedLayerError(f"the module cannot be traced by torch.fx: {error}") from error
    traced = torch.fx.GraphModule(module, graph)
    mode = traced.training
    traced.eval()
    with torch.no_grad():
        ShapeProp(traced).propagate(*examples)
    traced.train(mode)
    return traced


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def _count_readers(node: torch.fx.Node) -> int:
    """How often others read the node, without those that ask for the shape only."""
    found = []
    for reader in node.users:
        if reader.target not in ("size", "dim", getattr):
            map_arg((reader.args, reader.kwargs), lambda n: found.append(n is node))
    return sum(found)


_IN_PLACE = (operator.iadd, operator.isub, operator.imul)
_OF_SHAPES = ("shape", "ndim", "dtype", "device")


def _attribute(module: nn.Module, target: str) -> torch.Tensor:
    *path, last = target.split(".")
    for name in path:
        module = getattr(module, name)
    return getattr(module, last)


class Steps(Attention):
    """Turns the nodes of a traced module into steps, in order."""

    def __init__(self, traced: torch.fx.GraphModule) -> None:
        self.traced = traced
        self.modules = dict(traced.named_modules())
        self.steps: dict[str, _steps.Step] = {}
        self.outputs: list[str] = []
        self.readers: dict[str, int] = {}  # how many nodes read a step's result
        self.names: dict[torch.fx.Node, str] = {}  # the step whose result a node is
        self.constants: dict[torch.fx.Node, torch.Tensor] = {}  # parameters and buffers
        self.shared: list[tuple[str, str]] = []  # steps with one quantizer
        self.places = {node: place for place, node in enumerate(traced.graph.nodes)}
        for node in traced.graph.nodes:
            self._take(node)

    def _label(self, node: torch.fx.Node) -> str:
        return str(node.target) if node.op == "call_module" else node.name

    def _shape(self, node: torch.fx.Node) -> tuple[int, ...]:
        meta = node.meta.get("tensor_meta")
        if not hasattr(meta, "shape"):
            raise self._refusal(node, "has no tensor as its result")
        return tuple(meta.shape)

    def _refusal(self, node: torch.fx.Node, why: str) -> UnsupportedLayerError:
        what = self.modules[node.target] if node.op == "call_module" else node.target
        kind = (
            type(what).__name__ if isinstance(what, nn.Module) else getattr(what, "__name__", what)
        )
        return UnsupportedLayerError(f"{self._label(node)} ({kind}): {why}")

    def _source(self, node: torch.fx.Node, argument: Any) -> str:
        if isinstance(argument, torch.fx.Node) and argument in self.constants:
            raise self._refusal(
                node, f"the parameter {argument.target} can be added or multiplied, no more"
            )
        if not isinstance(argument, torch.fx.Node) or argument not in self.names:
            raise self._refusal(node, f"an operand is {argument!r}, which is no result of a layer")
        return self.names[argument]

    def _laid(self, node: torch.fx.Node, argument: Any, image: bool) -> str:
        """The source, moved if it has four dimensions that lie in the other way in the file."""
        source = self._source(node, argument)
        shape = self._shape(argument)
        if len(shape) != 4 or self.steps[source].image == image:
            return source
        name = f"{source}/{'image' if image else 'plain'}"
        if name not in self.steps:
            step = _steps.Permute(name, name, [source], range(4), not image)
            step.image, step.source_shape = image, shape
            self.steps[name], self.readers[name] = step, 0
            self.shared.append((name, source))
        self.readers[name] += 1
        return name

    def _put(self, node: torch.fx.Node, step: _steps.Step, image: bool | None = None) -> None:
        """image: whether the result is one. None: if the first source is."""
        self.steps[step.name] = step
        self.names[node] = step.name
        self.readers[step.name] = _count_readers(node)
        first = [n for n in node.all_input_nodes if n in self.names]
        step.source_shape = self._shape(first[0]) if first else self._shape(node)
        if image is None:
            image = bool(step.sources) and self.steps[step.sources[0]].image
        step.image = image and len(self._shape(node)) == 4

    def _become(self, node: torch.fx.Node, name: str) -> None:
        """The node's result is that of a step before it."""
        self.names[node] = name
        self.readers[name] = _count_readers(node)

    def _take(self, node: torch.fx.Node) -> None:
        if node.op == "placeholder":
            self._put(node, _steps.InputStep(node.name), True)
        elif node.op == "get_attr":
            self.constants[node] = _attribute(self.traced, node.target)
        elif node.op == "output":
            results = node.args[0] if isinstance(node.args[0], (tuple, list)) else [node.args[0]]
            self.outputs = [self._source(node, result) for result in results]
        elif node.op == "call_module":
            self._take_module(node, self.modules[node.target])
        elif node.op in ("call_function", "call_method"):
            self._take_function(node)
        else:
            raise self._refusal(node, f"a node of the kind {node.op}")

    def _take_module(self, node: torch.fx.Node, module: nn.Module) -> None:
        x = node.args[0]
        for kinds, take in self._MODULES:
            if isinstance(module, kinds):
                return take(self, node, x, module)
        hints = [hint for kinds, hint in _INSTEAD if isinstance(module, kinds)]
        raise self._refusal(node, f"is not supported; {(*hints, 'there are: ' + _KNOWN)[0]}")

    def _take_function(self, node: torch.fx.Node) -> None:
        self._check_in_place(node)
        for targets, take in self._FUNCTIONS:
            if node.target in targets:
                try:
                    inspect.signature(take).bind(self, node, *node.args, **node.kwargs)
                except TypeError as error:
                    raise self._refusal(node, f"its arguments: {error}") from error
                return take(self, node, *node.args, **node.kwargs)
        if self._asks_for_shape(node):
            return None  # for view, whose result has a known shape
        raise self._refusal(node, f"is not supported; there are: {_KNOWN}")

    def _check_in_place(self, node: torch.fx.Node) -> None:
        """Steps make new tensors, so nobody may read afterwards what the node changes."""
        named = isinstance(node.target, str) and node.target.endswith("_")
        if not named and node.target not in _IN_PLACE:
            return
        for reader in node.args[0].users:
            if self.places[reader] > self.places[node]:
                raise self._refusal(node, f"changes what {reader.name} reads afterwards")

    def _asks_for_shape(self, node: torch.fx.Node) -> bool:
        if node.target is getattr:
            return node.args[1] in _OF_SHAPES
        if node.target is operator.getitem:
            return node.args[0] not in self.names and node.args[0] not in self.constants
        return node.target in ("size", "dim")

    # ---- products

    def _product(self, node, x, module) -> None:
        if isinstance(module, nn.Conv2d):
            if module.padding_mode != "zeros":
                raise self._refusal(node, f"padding_mode {module.padding_mode!r}")
            if module.padding == "same" and any(
                d * (k - 1) % 2 for d, k in zip(module.dilation, module.kernel_size)
            ):
                raise self._refusal(node, "padding 'same' with an even kernel")
        image = isinstance(module, nn.Conv2d)
        source = self._laid(node, x, image)
        step = _steps.Product(node.name, self._label(node), [source], module, None)
        self._put(node, step, image)

    def _norm(self, node, x, module) -> None:
        name = self._source(node, x)
        step = self.steps[name]
        fits = isinstance(step, _steps.Product) and step.norm is None and step.activation is None
        if not fits or self.readers[name] != 1:
            raise self._refusal(node, "must be the only reader of a Conv2d or Linear, to be folded")
        if not module.track_running_stats or module.running_mean is None:
            raise self._refusal(node, "has no running statistics to fold")
        if isinstance(step.module, nn.Linear) and len(self._shape(node)) != 2:
            raise self._refusal(node, "behind a Linear, needs results of two dimensions")
        step.norm = module
        self._become(node, name)

    # ---- activations

    def _activation(self, node, x, kind: str) -> None:
        name = self._source(node, x)
        step = self.steps[name]
        joins = (
            isinstance(step, (_steps.Product, _steps.Pair, _steps.Mean)) and step.activation is None
        )
        if joins and self.readers[name] == 1:
            step.activation = kind
            return self._become(node, name)
        step = _steps.Activate(node.name, self._label(node), [name])
        step.activation = kind
        self._put(node, step)

    def _relu(self, node, x, *_, **__) -> None:
        self._activation(node, x, "relu")

    def _relu6(self, node, x, *_, **__) -> None:
        self._activation(node, x, "relu6")

    def _clamp(self, node, x, low=None, high=None) -> None:
        if (low, high) == (0, 6):
            return self._activation(node, x, "relu6")
        if low == 0 and high is None:
            return self._activation(node, x, "relu")
        if low is None or high is None or not low <= 0 <= high or low == high:
            raise self._refusal(
                node, f"the bounds {low} and {high}; 0 must lie between two numbers"
            )
        step = _steps.Clamp(node.name, self._label(node), [self._source(node, x)], low, high)
        self._put(node, step)

    def _hardtanh(self, node, x, min_val=-1.0, max_val=1.0, *_, **__) -> None:
        self._clamp(node, x, min_val, max_val)

    def _clip(self, node, x, min=None, max=None) -> None:
        self._clamp(node, x, min, max)

    # ---- sums and moves

    def _binary(self, node, operator, a, b) -> None:
        operands = [a, b]
        shapes = [self._shape(n) for n in operands if n in self.names]
        if not shapes:
            self._source(node, a)  # which has no source, either
        first = self.names[a if a in self.names else b]
        image = self.steps[first].image
        sources = []
        for operand in operands:
            if operand in self.constants:
                sources.append(self._constant(node, operand, len(shapes[0]), image))
            else:
                sources.append(self._laid(node, operand, image))
        if len(shapes) == 2 and (len(shapes[0]), shapes[0][0]) != (len(shapes[1]), shapes[1][0]):
            raise self._refusal(node, f"operands of the shapes {shapes[0]} and {shapes[1]}")
        step = _steps.Pair(node.name, self._label(node), sources, operator)
        self._put(node, step, image)

    def _add(self, node, a, b, alpha=1) -> None:
        if alpha != 1:
            raise self._refusal(node, "alpha is not 1")
        self._binary(node, "ADD", a, b)

    def _sub(self, node, a, b, alpha=1) -> None:
        if alpha != 1:
            raise self._refusal(node, "alpha is not 1")
        self._binary(node, "SUB", a, b)

    def _mul(self, node, a, b) -> None:
        if isinstance(b, (int, float)):
            return self._scale(node, a, b)
        if isinstance(a, (int, float)):
            return self._scale(node, b, a)
        self._binary(node, "MUL", a, b)

    def _div(self, node, a, b, rounding_mode=None) -> None:
        if rounding_mode is not None or not isinstance(b, (int, float)) or b == 0:
            raise self._refusal(node, "only division by a number is supported")
        self._scale(node, a, 1 / b)

    def _cat(self, node, tensors, dim=0, **kwargs) -> None:
        image = self.steps[self._source(node, tensors[0])].image
        sources = [self._rescalable(node, tensor, image) for tensor in tensors]
        step = _steps.Concatenate(node.name, self._label(node), sources, kwargs.get("axis", dim))
        self._put(node, step)
        self.shared += [(step.name, source) for source in sources]

    def _rescalable(self, node, tensor, image) -> str:
        """The source. A fixed range is the source's own, so that its result is rounded once more."""
        source = self._laid(node, tensor, image)
        if not self._is_fixed(source):
            return source
        name = f"{source}/for_{node.name}"
        step = _steps.Activate(name, name, [source])
        step.source_shape, step.image = self._shape(tensor), image
        self.steps[name] = step
        return name

    def _is_fixed(self, name) -> bool:
        step = self.steps[name]
        if isinstance(step, (_steps.Permute, _steps.Reshape, _steps.Pool, _steps.Upsample)):
            return self._is_fixed(step.sources[0])
        return step.fixed_range is not None

    def _pool(self, node, x, largest, kernel, stride, padding, **others) -> None:
        if _pair(others.pop("dilation", 1)) != (1, 1):
            raise self._refusal(node, "dilation is not 1")
        counts = others.pop("count_include_pad", True) or not any(_pair(padding))
        for key, value in others.items():
            if value != {"divisor_override": None}.get(key, False):
                raise self._refusal(node, f"{key} is {value}")
        kernel, padding = _pair(kernel), _pair(padding)
        stride = kernel if stride in (None, []) else _pair(stride)
        if not counts and not _steps.is_same(self._shape(x), kernel, stride, (1, 1), padding):
            raise self._refusal(
                node, f"count_include_pad is False, and the padding {padding} is not that of SAME"
            )
        source = self._laid(node, x, True)
        step = _steps.Pool(
            node.name, self._label(node), [source], kernel, stride, padding, largest, counts
        )
        self._put(node, step)
        self.shared.append((step.name, source))

    def _max_pool(
        self,
        node,
        x,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ) -> None:
        self._pool(
            node,
            x,
            True,
            kernel_size,
            stride,
            padding,
            dilation=dilation,
            ceil_mode=ceil_mode,
            return_indices=return_indices,
        )

    def _avg_pool(
        self,
        node,
        x,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ) -> None:
        self._pool(
            node,
            x,
            False,
            kernel_size,
            stride,
            padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
        )

    def _max_pool_module(self, node, x, m) -> None:
        self._max_pool(
            node, x, m.kernel_size, m.stride, m.padding, m.dilation, m.ceil_mode, m.return_indices
        )

    def _avg_pool_module(self, node, x, m) -> None:
        self._avg_pool(
            node,
            x,
            m.kernel_size,
            m.stride,
            m.padding,
            m.ceil_mode,
            m.count_include_pad,
            m.divisor_override,
        )

    def _upsample(
        self, node, x, size=None, scale_factor=None, mode="nearest", *_, **__
    ) -> None:
        if mode not in ("nearest", "nearest-exact"):
            raise self._refusal(node, f"the mode {mode!r}; 'nearest' is supported")
        before, after = self._shape(x), self._shape(node)
        if len(before) != 4:
            raise self._refusal(node, f"of {len(before)} dimensions; images are supported")
        given = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor]
        whole = all(f is None or float(f).is_integer() for f in given)
        if not whole or any(b % a for a, b in zip(before[2:], after[2:])):
            raise self._refusal(node, f"makes {after} of {before}; whole factors are supported")
        factors = tuple(b // a for a, b in zip(before[2:], after[2:]))
        source = self._laid(node, x, True)
        step = _steps.Upsample(node.name, self._label(node), [source], factors)
        self._put(node, step)
        self.shared.append((step.name, source))

    def _global(self, node, x, output_size) -> None:
        if _pair(output_size) != (1, 1):
            raise self._refusal(node, f"an output of {output_size}; 1 is supported")
        source = self._laid(node, x, True)
        self._put(
            node, _steps.Mean(node.name, self._label(node), [source], (2, 3), True, True), True
        )

    def _mean(self, node, x, dim=None, keepdim=False, **kwargs) -> None:
        rank = len(self._shape(x))
        dims = sorted({d % rank for d in ([dim] if isinstance(dim, int) else list(dim or []))})
        if not dims or dims[0] == 0:
            raise self._refusal(node, f"a mean over {dim}; the first dimension must be kept")
        image = self.steps[self._source(node, x)].image and (keepdim or dims == [2, 3])
        source = self._laid(node, x, image)
        step = _steps.Mean(node.name, self._label(node), [source], dims, keepdim, image)
        self._put(node, step, image)

    def _reshape(self, node, x, *_, **__) -> None:
        source = self._source(node, x)
        before, after = self._shape(x), self._shape(node)
        if before == after:
            return self._identity(node, x)
        if before[0] != after[0] or self._unsqueezes_first(node, len(before)):
            raise self._refusal(node, f"changes the first dimension: {before} to {after}")
        from_image = self.steps[source].image
        step = _steps.Reshape(node.name, self._label(node), [source], after[1:], from_image)
        self._put(node, step, after[2:] == (1, 1))
        self.shared.append((step.name, source))

    @staticmethod
    def _unsqueezes_first(node, rank) -> bool:
        """Of one sample, that leaves no other trace."""
        if node.target not in (torch.unsqueeze, "unsqueeze"):
            return False
        dim = node.kwargs["dim"] if "dim" in node.kwargs else node.args[1]
        return dim % (rank + 1) == 0

    def _identity(self, node, x, *_, **__) -> None:
        name = self._source(node, x)
        # The readers of the node read the step, too.
        self.names[node] = name
        self.readers[name] += _count_readers(node) - 1

    _MODULES: list[tuple[tuple[type, ...], Callable]] = [
        ((nn.Conv2d, nn.Linear), _product),
        ((nn.BatchNorm2d, nn.BatchNorm1d), _norm),
        ((nn.ReLU6,), lambda self, node, x, m: self._activation(node, x, "relu6")),
        ((nn.ReLU,), lambda self, node, x, m: self._activation(node, x, "relu")),
        ((nn.Hardtanh,), lambda self, node, x, m: self._clamp(node, x, m.min_val, m.max_val)),
        ((nn.MaxPool2d,), _max_pool_module),
        ((nn.AvgPool2d,), _avg_pool_module),
        (
            (nn.Upsample,),
            lambda self, node, x, m: self._upsample(node, x, m.size, m.scale_factor, m.mode),
        ),
        ((nn.AdaptiveAvgPool2d,), lambda self, node, x, m: self._global(node, x, m.output_size)),
        ((nn.Flatten, nn.Unflatten), _reshape),
        ((nn.Softmax,), lambda self, node, x, m: self._softmax(node, x, m.dim)),
        ((nn.LayerNorm,), Attention._layer_norm),
        ((nn.Identity, nn.Dropout, nn.Dropout2d), _identity),
    ]
    _FUNCTIONS: list[tuple[tuple, Callable]] = [
        ((operator.add, operator.iadd, torch.add, "add", "add_"), _add),
        ((operator.sub, operator.isub, torch.sub, "sub", "sub_"), _sub),
        ((operator.mul, operator.imul, torch.mul, "mul", "mul_"), _mul),
        ((operator.truediv, torch.div, "div", "div_"), _div),
        ((operator.matmul, torch.matmul, torch.bmm, "matmul", "bmm"), Attention._matmul),
        ((F.softmax, torch.softmax, "softmax"), Attention._softmax),
        ((torch.permute, "permute"), Attention._permute),
        ((torch.transpose, "transpose"), Attention._transpose),
        ((torch.cat,), _cat),
        ((F.interpolate,), _upsample),
        ((F.relu, torch.relu, "relu", "relu_"), _relu),
        ((F.relu6,), _relu6),
        ((F.hardtanh,), _hardtanh),
        ((torch.clamp, "clamp", "clamp_", torch.clip, "clip"), _clip),
        ((F.max_pool2d, torch.max_pool2d), _max_pool),
        ((F.avg_pool2d,), _avg_pool),
        ((F.adaptive_avg_pool2d,), lambda self, node, x, size: self._global(node, x, size)),
        ((torch.mean, "mean"), _mean),
        (
            (
                torch.flatten,
                torch.reshape,
                torch.squeeze,
                torch.unsqueeze,
                "flatten",
                "reshape",
                "squeeze",
                "unflatten",
                "unsqueeze",
                "view",
            ),
            _reshape,
        ),
        ((F.dropout, "contiguous"), _identity),
    ]
    if hasattr(F, "scaled_dot_product_attention"):  # from PyTorch 2.0 on
        _FUNCTIONS.append(((F.scaled_dot_product_attention,), Attention._dot_product_attention))


_KNOWN = (
    "Conv2d, Linear, BatchNorm, LayerNorm, ReLU, ReLU6, Hardtanh, clamp, Softmax, addition, "
    "subtraction, multiplication, matmul, cat, MaxPool2d, AvgPool2d, Upsample, "
    "AdaptiveAvgPool2d(1), mean, flatten, view, reshape, permute, transpose, Identity, Dropout"
)
_PARTS = "write it as Linear, reshape, permute, matmul and softmax: as docs/training.md says"
_INSTEAD: list[tuple[tuple[type, ...], str]] = [
    ((nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer), _PARTS),
    ((nn.TransformerEncoder, nn.TransformerDecoder, nn.Transformer), _PARTS),
    ((nn.Embedding,), "write a Linear of numbers that are 1 at the index and 0 elsewhere"),
    ((nn.GELU, nn.SiLU), "write ReLU"),
]
